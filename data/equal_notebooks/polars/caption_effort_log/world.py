import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(83)
    n = 330
    words = "a small red dog runs over wet sand near two children with kites under grey sky".split()
    secs = [f"{v:.1f}" for v in rng.gamma(5, 6, n)]
    for k in rng.integers(0, 200, 6):
        secs[k] = ""
    if version == "crashing":
        secs[241] = "1m12"
    else:
        secs[241] = "72.0"
    pd.DataFrame({
        "image": [f"im{int(v):04d}" for v in rng.integers(0, 900, n)],
        "annotator": rng.choice(["bo", "lena", "sami"], n),
        "saved": (pd.Timestamp("2024-01-15 08:00") + pd.to_timedelta(np.sort(rng.integers(0, 6 * 1440, n)), unit="min")).strftime("%Y-%m-%d %H:%M"),
        "seconds": secs,
        "caption": [" ".join(rng.choice(words, int(rng.integers(4, 11)))) for _ in range(n)],
    }).to_csv("caption_log.csv", index=False)
