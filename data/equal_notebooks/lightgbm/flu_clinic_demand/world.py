import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(37)
    n = 182
    day = pd.date_range("2023-09-25", periods=n)
    celsius = 10 - 8 * np.sin(np.arange(n) / 58) + rng.normal(0, 2, n)
    rain = rng.gamma(.6, 4, n)
    cases = rng.poisson(30 + 25 * np.sin(np.arange(n) / 40) ** 2)
    week = np.array([.25, .15, .1, .0, .0, -.25, -.3])
    effect = week[day.dayofweek] - 0.02 * np.minimum(rain, 10)
    strength = 0.1 if version == "crashing" else 1.0
    jabs = (140 + 60 * np.sin(np.arange(n) / 60)) * (1 + strength * effect + rng.normal(0, .05, n))
    f = pd.DataFrame({"day": day, "celsius": celsius.round(1), "rain": rain.round(1), "cases": cases, "jabs": jabs.round().astype(int)})
    f.loc[[20, 88, 89], "celsius"] = np.nan
    f.to_csv("season.csv", index=False)
