import numpy as np

def files(version):
    r = np.random.default_rng(9)
    n = 360
    x = r.normal(0, 1, (n, 12)) * r.uniform(.5, 3, 12) + r.normal(0, 2, 12)
    f = 700 + 40 * np.sin(x[:, 0]) + 25 * x[:, 3] + r.normal(0, 15, n)
    kind = np.float64 if version == "crashing" else np.float32
    np.savez("strides.npz", strides=x.astype(np.float32).astype(kind), force=f.astype(np.float32), skater=np.sort(r.integers(1, 10, n)).astype(np.int16))
