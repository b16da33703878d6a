import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(77)
    n = 420
    last = "lapsed" if version == "crashing" else "withdrawn"
    received = pd.Timestamp("2023-01-03") + pd.to_timedelta(rng.integers(0, 360, n), unit="D")
    days = rng.poisson(9, n) * (rng.random(n) > 0.08)
    frame = pd.DataFrame({
        "Reference": [f"P-{i:05d}" for i in range(3000, 3000 + n)],
        "Ward": rng.choice(["abbey", "Canal Side", "hillcrest", "Market", "St Giles"], n),
        "Kind": rng.choice(["first", "second", "visitor"], n, p=[.5, .2, .3]),
        "received": received.strftime("%Y-%m-%d"),
        "closed": (received + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
        "Outcome ": rng.choice(["Granted", "refused", last], n, p=[.7, .2, .1]),
    })
    frame.to_csv("permits.csv", index=False)
