import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(19)
    n = 300
    codes = ["101", "104", "117", "203", "210"] if version == "crashing" else ["A01", "A04", "B17", "C03", "C10"]
    place = rng.integers(0, 5, n)
    df = pd.DataFrame({
        "clip_code": [f"{codes[p]}{i + 2000:05d}" for i, p in enumerate(place)],
        "recorded": (pd.Timestamp("2024-03-01 04:00") + pd.to_timedelta(rng.integers(0, 150 * 1440, n), unit="min")).strftime("%Y-%m-%d %H:%M"),
        "seconds": rng.gamma(2, 8, n).round(1),
        "level_db": rng.normal(-32, 6, n).round(1),
        "label": rng.choice(["frog", "Bird", "insect", "rain", None], n),
    })
    df = pd.concat([df, df.iloc[[4, 90]]])
    df.to_csv("clip_index.csv", index=False)
    pd.DataFrame({"site": codes, "habitat": ["marsh", "marsh", "meadow", "forest", "forest"]}).to_csv("sites.csv", index=False)
