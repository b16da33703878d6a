import numpy as np
import pandas as pd

def environment(version):
    return {"PANEL_WAVE": "w4" if version == "crashing" else "w2"}

def files(version):
    r = np.random.default_rng(58)
    n = 360
    d = pd.DataFrame({"respondent": np.arange(1000, 1000 + n), "region": r.choice(["north", "coast", "valley", "city"], n),
                      "birth_year": r.integers(1940, 2003, n), "weight": r.gamma(8, 1 / 8, n).round(3)})
    for w in (1, 2, 3):
        for what, m in (("courts", 6), ("press", 4.5), ("schools", 6.5)):
            v = np.clip(np.rint(r.normal(m - .2 * w, 2, n)), 0, 10)
            v[r.random(n) < .06 * w] = np.nan
            d[f"{what}_w{w}"] = v
    d.loc[r.random(n) < .03, "weight"] = np.nan
    d.to_csv("trust_panel.csv", index=False)
