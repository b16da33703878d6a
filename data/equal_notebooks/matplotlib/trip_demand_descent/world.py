import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(44)
    n = 500
    t = rng.normal(14, 7, n)
    df = pd.DataFrame({
        "station": rng.integers(1, 12, n),
        "temperature": t.round(1),
        "wind": rng.gamma(2, 2, n).round(1),
        "rain_mm": np.where(rng.random(n) < 0.7, 0, rng.gamma(1, 2, n)).round(1),
        "rush": rng.integers(0, 2, n),
        "holiday": (rng.random(n) < 0.1).astype(int),
    })
    df["trips"] = np.maximum(0, 20 + 1.1 * t - 1.5 * df["rain_mm"] + 9 * df["rush"] - 4 * df["holiday"] + rng.normal(0, 5, n)).round(0)
    df.loc[[12, 200], "wind"] = np.nan
    df.to_csv("station_hours.csv", index=False)


def environment(version):
    return {"DEMAND_STEP": "2.5" if version == "crashing" else "0.25", "DEMAND_EPOCHS": "600"}
