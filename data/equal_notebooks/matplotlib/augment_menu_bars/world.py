import numpy as np
import pandas as pd


def files(version):
    rng = np.random.default_rng(37)
    off = "off" if version == "crashing" else "'off'"
    with open("ablation.yaml", "w") as f:
        f.write("title: augmentation ablation, resnet small\n"
                "seeds: [1, 2, 3, 4, 5]\n"
                "augmentation:\n"
                "  - flip\n  - crop\n  - " + off + "\n  - mixup\n  - cutmix\n"
                "optimizer: {name: sgd, lr: 0.1}\n")
    base = [0.912, 0.921, 0.894, 0.927, 0.926]
    price = [3.1, 3.2, 3.0, 3.6, 3.7]
    rows = [[a, s, round(base[a] + rng.normal(0, 0.004), 4), round(price[a] + rng.normal(0, 0.05), 2)] for a in range(5) for s in range(1, 7)]
    pd.DataFrame(rows, columns=["arm", "seed", "accuracy", "minutes"]).sample(frac=1, random_state=1).to_csv("ablation_results.csv", index=False)
