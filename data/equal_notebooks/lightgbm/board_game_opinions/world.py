import numpy as np
import pandas as pd

GOOD = "fun quick clever pretty easy family loved replay".split()
BAD = "boring slow confusing flimsy luck endless sold regret".split()
PLAIN = "game cards dice rules players box evening kids board turns the a and is it".split()


def files(version):
    rng = np.random.default_rng(90)
    face = ":)" if version == "crashing" else "haha"
    rows = []
    for i in range(320):
        yes = rng.random() < 0.6
        ws = list(rng.choice(PLAIN, 6)) + list(rng.choice(GOOD if yes == (rng.random() < 0.85) else BAD, 3))
        rng.shuffle(ws)
        if rng.random() < (0.35 if yes else 0.08):
            ws.append(face)
        if rng.random() < 0.3:
            ws[0] = str(ws[0]).capitalize() + "."
        rows.append([f"g{int(rng.integers(1, 40)):02d}", " ".join(ws), "yes" if yes else "no"])
    pd.DataFrame(rows, columns=["game", "text", "again"]).to_csv("opinions.csv", index=False)
