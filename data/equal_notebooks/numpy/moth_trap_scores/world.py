import json
import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(7)
    names = ["agrotis", "noctua", "xestia", "autographa", "deilephila", "biston"]
    n = 260
    truth = rng.integers(0, 6, n)
    guess = np.where(rng.random(n) < 0.8, truth, rng.integers(0, 6, n))
    other = rng.random(n) < 0.04
    if version == "crashing":
        guess = np.where(other, 6, guess)
    df = pd.DataFrame({
        "picture": [f"mt_{i:04d}.jpg" for i in range(n)],
        "night": (pd.Timestamp("2024-06-03") + pd.to_timedelta(rng.integers(0, 12, n), unit="D")).strftime("%Y-%m-%d"),
        "sharpness": rng.uniform(0.1, 1, n).round(3),
        "true_id": truth,
        "model_id": guess,
        "confidence": rng.uniform(0.3, 1, n).round(3),
    })
    df.to_csv("verification_round3.csv", index=False)
    with open("classes.json", "w") as f:
        json.dump({"names": names}, f)
