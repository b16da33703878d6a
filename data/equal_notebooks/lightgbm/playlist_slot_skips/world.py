import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(101)

    def table(n, start, days, hero):
        slot = rng.choice(["1", "2", "3", "4"], n)
        top = rng.random(n) < 0.12
        if hero:
            slot = np.where(top, "hero", slot)
        p = 0.3 + 0.08 * (slot == "4") - 0.1 * (slot == "hero")
        return pd.DataFrame({
            "shown_at": (pd.Timestamp(start) + pd.to_timedelta(rng.integers(0, days * 1440, n), unit="min")).strftime("%Y-%m-%d %H:%M"),
            "slot": slot,
            "client": rng.choice(["ios", "android", "web"], n),
            "tempo": np.where(rng.random(n) < 0.05, np.nan, rng.normal(115, 20, n).round(0)),
            "plays_before": rng.poisson(3, n),
            "skipped": (rng.random(n) < p).astype(int),
        })

    table(500, "2024-04-01", 30, True).to_csv("impressions_april.csv", index=False)
    table(160, "2024-05-01", 4, version == "mended").to_csv("impressions_may.csv", index=False)
