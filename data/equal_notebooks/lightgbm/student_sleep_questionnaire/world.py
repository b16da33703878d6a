import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(64)
    n = 400
    mark = "Screens: minutes before bed" if version == "crashing" else "Screens minutes before bed"
    d = pd.DataFrame({"Person": np.arange(1, n + 1), "Hours of sleep": r.normal(7, 1, n).round(1), "Minutes to fall asleep": r.integers(2, 70, n),
                      "Times awake": r.poisson(1.4, n), mark: r.integers(0, 120, n), "Coffee cups": r.integers(0, 6, n), "Naps a week": r.integers(0, 5, n)})
    d["Mood score"] = (52 + 5 * (d["Hours of sleep"] - 7) - .25 * d["Minutes to fall asleep"] - 2 * d["Times awake"] + r.normal(0, 7, n)).round().astype(int)
    d.loc[r.random(n) < .07, "Coffee cups"] = np.nan
    d["Dream diary"] = np.where(r.random(n) < .2, 1.0, np.nan)
    d.to_csv("questionnaire.csv", index=False)
