import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(314)
    n = 420
    d = pd.DataFrame({"age": r.integers(18, 85, n), "sex": r.choice(["f", "m"], n), "smoker": r.choice(["yes", "no"], n, p=[.3, .7]),
                      "minutes_surgery": r.integers(20, 320, n), "dose_mg": r.choice([0, 4, 8, 12], n)})
    slope = 0.1 if version == "crashing" else 2.2
    mean_dose = 6
    y = 40 + 12 * (d.sex == "f") - 9 * (d.smoker == "yes") + .07 * d.minutes_surgery - slope * (d.dose_mg - mean_dose) + r.normal(0, 6, n)
    d["nausea"] = y.clip(0, 100).round(1)
    d.to_csv("ward_nausea.csv", index=False)
