import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(64)
    n = 180
    pd.DataFrame({
        "tape_id": range(1, n + 1),
        "title": [f"tape {int(v)}" for v in rng.integers(100, 999, n)],
        "genre": rng.choice(["house", "Soul", "dub", "folk", "jazz"], n),
        "tempo": rng.normal(112, 18, n).round(0),
        "released": (pd.Timestamp("2022-03-04") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D")).strftime("%Y-%m-%d"),
    }).to_csv("tapes.csv", index=False)


def today(version):
    return {"crashing": "2026-08-12T10:00:00", "mended": "2025-08-12T10:00:00"}[version]
