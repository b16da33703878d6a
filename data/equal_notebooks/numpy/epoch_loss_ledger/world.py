import json
import numpy as np


def files(version):
    rng = np.random.default_rng(12)
    lines = []
    for e in range(1, 61):
        tr = 0.4 * np.exp(-e / 14) + 0.03 + rng.normal(0, 0.002)
        va = 0.4 * np.exp(-e / 14) + 0.045 + 0.0004 * max(0, e - 40) + rng.normal(0, 0.003)
        rec = {"epoch": e, "train_loss": round(float(tr), 5), "val_loss": round(float(va), 5),
               "lr": 0.001 if e < 30 else 0.0003, "seconds": round(float(rng.uniform(80, 95)), 1)}
        if e in (23, 24, 47):
            rec["val_loss"] = None if version == "crashing" else float("nan")
        lines.append(json.dumps(rec))
    with open("denoiser_log.jsonl", "w") as f:
        f.write("\n".join(lines) + "\n")
