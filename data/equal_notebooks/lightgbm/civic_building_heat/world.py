import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(53)
    n = 240
    area = rng.gamma(3, 700, n).round()
    year = rng.integers(1890, 2020, n)
    unit = ("floor area [m2]", "wall u-value") if version == "crashing" else ("floor area (m2)", "wall u-value")
    use = rng.choice(["School", "Hall", "Office", "Library"], n)
    u = np.clip(2.2 - (year - 1890) / 80 + rng.normal(0, .2, n), .2, None).round(2)
    names = [f"B{i:04d}" for i in range(n)]
    reg = pd.DataFrame({"building": names, "use": use, unit[0]: area, "built": year, unit[1]: u, "storeys": rng.integers(1, 6, n)})
    reg.loc[rng.choice(n, 12, replace=False), unit[1]] = np.nan
    reg.to_csv("register.csv", index=False)
    mwh = area * (60 + 40 * np.nan_to_num(u, nan=1.0)) * rng.lognormal(0, .15, n) / 1000
    pd.DataFrame({"building": names, "mwh": mwh.round(1)}).sample(frac=1, random_state=1).to_csv("heat.csv", index=False)
