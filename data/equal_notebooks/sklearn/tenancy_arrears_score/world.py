import numpy as np
import pandas as pd

def make(rng, n, start):
    rent = rng.normal(105, 18, n).round(2)
    arrears = (rng.exponential(120, n) - 40).round(2)
    f = pd.DataFrame({"Tenancy": [f"T{start + i}" for i in range(n)], "Rent": rent, "Arrears": arrears,
                      "Months held": rng.integers(1, 200, n), "Rooms": rng.integers(1, 5, n),
                      "Housing benefit": rng.choice(["yes", "no"], n)})
    z = arrears / 100 + (rent - 105) / 25 - f["Months held"] / 120
    return f, (rng.random(n) < 1 / (1 + np.exp(-(z - 0.6)))).astype(int)

def files(version):
    rng = np.random.default_rng(31)
    f, y = make(rng, 380, 10000)
    f["Fell behind"] = y
    f.to_csv("tenancies_last_year.csv", index=False)
    g, _ = make(rng, 220, 10400)
    g.loc[g.index % 37 == 5, "Rent"] = np.nan
    if version == "crashing":
        g = g[["Tenancy", "Arrears", "Rent", "Months held", "Rooms", "Housing benefit"]]
    g.to_csv("tenancies_now.csv", index=False)
