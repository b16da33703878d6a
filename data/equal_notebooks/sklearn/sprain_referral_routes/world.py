import numpy as np
import pandas as pd

def seed(version):
    return 1 if version == "crashing" else 2

def files(version):
    r = np.random.default_rng(77)
    n = 96
    d = pd.DataFrame({"patient": np.arange(1, n + 1), "age": r.integers(15, 45, n), "grade": r.choice([1, 2, 3], n, p=[.5, .35, .15]),
                      "swelling_mm": r.normal(14, 4, n).round(1), "sport": r.choice(["football", "handball", "running"], n), "route": r.choice(["gp", "self", "club"], n)})
    d.loc[40, "route"] = "army"
    d.loc[[3, 50, 71], "swelling_mm"] = np.nan
    d["days_off"] = np.maximum(2, (d.grade * 11 + r.normal(0, 5, n)).round()).astype(int)
    d.to_csv("sprains.csv", index=False)
