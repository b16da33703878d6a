import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(68)
    n = 420
    when = pd.Timestamp("2024-10-07") + pd.to_timedelta(np.sort(rng.integers(0, 3 * 86400, n)), unit="s")
    stamps = list(when.strftime("%Y-%m-%d %H:%M:%S"))
    if version == "crashing":
        for k in (51, 52, 53):
            stamps[k] = stamps[k] + " UTC"
    tokens = rng.integers(5, 300, n)
    df = pd.DataFrame({
        "request_id": [f"q{i:05d}" for i in range(n)],
        "received": stamps,
        "model": rng.choice(["small", "base", "large"], n, p=[0.5, 0.3, 0.2]),
        "status": rng.choice([200, 200, 200, 200, 429, 500], n),
        "tokens_out": tokens,
        "latency_ms": (120 + 4 * tokens * rng.uniform(0.7, 1.6, n)).round(0).astype(int),
    })
    df["status"] = np.where(np.isin(np.arange(n), [0, 1, 2, 51, 52, 53]), 200, df["status"])
    pd.concat([df, df.iloc[[5, 6]]]).to_csv("gateway_requests.csv", index=False)
