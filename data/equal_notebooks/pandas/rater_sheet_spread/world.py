import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(23)
    rows = []
    t = pd.Timestamp("2024-05-06 09:00:00")
    for rater, shift in (("ines", 0.3), ("tomas", -0.4), ("wei", 0.0), ("ruth", 0.1)):
        when = t
        for i in range(110):
            when = when + pd.Timedelta(seconds=int(rng.integers(3, 60)))
            if rng.random() < 0.12:
                continue
            rows.append([f"sum-{i:03d}", rater, int(np.clip(round(3 + shift + 1.1 * np.sin(i) + rng.normal(0, 0.7)), 1, 5)), when])
    df = pd.DataFrame(rows, columns=["Item", "Rater", "Score", "Given_at"])
    again = df.iloc[[57, 212]].copy()
    if version == "crashing":
        again.iloc[1, 2] = 6 - again.iloc[1, 2] if again.iloc[1, 2] != 3 else 4
        again.iloc[1, 3] = again.iloc[1, 3] + pd.Timedelta(hours=3)
    df = pd.concat([df, again], ignore_index=True)
    df.to_csv("fluency_ratings.csv", index=False)
