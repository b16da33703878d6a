import numpy as np
import pandas as pd

def today(version):
    return "2024-08-19T09:30:00" if version == "crashing" else "2024-06-19T09:30:00"

def files(version):
    r = np.random.default_rng(52)
    rows = []
    for day in pd.date_range("2024-03-01", "2024-07-07"):
        for stage, m in (("quay", 55), ("lighthouse", 30), ("warehouse", 42)):
            rows.append((day.date(), stage, int(r.poisson(m * (1 + .3 * (day.dayofweek > 4))))))
    pd.DataFrame(rows, columns=["day", "stage", "sold"]).to_csv("tickets.csv", index=False)
    pd.DataFrame({"stage": ["quay", "lighthouse", "warehouse"], "price": [28, 19, 24]}).to_csv("prices.csv", index=False)
