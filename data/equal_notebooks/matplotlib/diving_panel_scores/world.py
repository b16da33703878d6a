import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(710)
    n = 150
    board = r.choice(["springboard 3m", "platform 10m"], n)
    if version == "crashing":
        board[:] = "springboard 3m"
    d = pd.DataFrame({"diver": r.integers(1, 26, n), "board": board, "difficulty": r.choice(np.arange(2.0, 3.9, .1), n).round(1)})
    q = np.clip(r.normal(7, 1, n) - .4 * (d.difficulty - 3), 2, 10)
    for j in range(1, 8):
        d[f"j{j}"] = np.clip(np.round((q + r.normal(0, .5, n)) * 2) / 2, 0, 10)
    d.to_csv("dives.csv", index=False)
