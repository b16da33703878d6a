import numpy as np


def files(version):
    rng = np.random.default_rng(29)
    n, s = 40, 16
    patches = np.zeros((n, s, s, 3))
    disease = rng.choice(["healthy", "rust", "mildew"], n)
    for i in range(n):
        patches[i] = np.array([70, 130, 60]) * rng.uniform(0.6, 1.4) + rng.integers(-2, 3, (s, s, 1)) * 8
        if disease[i] != "healthy":
            y, x = rng.integers(2, 12, 2)
            patches[i, y:y + 4, x:x + 4] = (150, 80, 30) if disease[i] == "rust" else (220, 220, 210)
    patches[31] = patches[8]
    patches = np.clip(patches, 0, 255).astype("uint8")
    if version == "crashing":
        patches = patches.transpose(0, 3, 1, 2).copy()
    np.savez_compressed("leaf_patches.npz", patches=patches, disease=disease, leaf=rng.integers(1, 12, n))
