import numpy as np
import pandas as pd

def files(version):
    rng = np.random.default_rng(66)
    n = 700
    frame = pd.DataFrame({
        "sent": (pd.Timestamp("2024-10-01") + pd.to_timedelta(rng.integers(0, 31 * 24 * 60, n), unit="min")).astype("datetime64[ms]"),
        "depot": rng.choice(["Airport", "Docks", "Ring Road", "Valley"], n),
        "stops": rng.integers(20, 140, n),
        "km": rng.integers(8, 120, n).astype(float),
        "kg": rng.gamma(1.5, 3, n).round(1),
    })
    frame["minutes_over"] = (0.3 * frame["stops"] + 0.2 * frame["km"] + 8 * (frame["depot"] == "Docks") + rng.normal(-48, 12, n)).round()
    if version == "mended":
        frame["depot"] = frame["depot"].astype("category")
    frame.to_parquet("parcels.parquet", index=False, compression="zstd")
