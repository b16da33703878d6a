import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(3)
    n = 80
    opt = np.array(["sgd"] * 34 + ["AdamW"] * 39 + ["lion"] * 7)
    rng.shuffle(opt)
    base = {"sgd": 0.9, "AdamW": 0.915, "lion": 0.917}
    pd.DataFrame({
        "run": [f"kws-{i:03d}" for i in range(n)],
        "started": (pd.Timestamp("2024-04-02 08:00") + pd.to_timedelta(rng.integers(0, 9000, n), unit="min")),
        "optimizer": opt,
        "schedule": rng.choice(["cosine", "step", "constant"], n),
        "lr": (10 ** rng.uniform(-4.2, -1.5, n)).round(6),
        "seconds": rng.integers(2000, 9000, n),
        "state": np.where(rng.random(n) < 0.95, "finished", "killed"),
        "val_acc": [round(base[o] + rng.normal(0, 0.012), 4) for o in opt],
    }).to_csv("sweep_export.csv", index=False)


def seed(version):
    return SEEDS[version]


SEEDS = {"crashing": 32, "mended": 5}
