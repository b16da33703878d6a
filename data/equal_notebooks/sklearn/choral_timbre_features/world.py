import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(263)
    n = 150
    names = ["centroid", "spread", "skew", "kurtosis", "rolloff", "flux", "flatness", "hnr", "f1", "f2", "singer_formant", "vibrato_rate", "vibrato_extent", "attack"]
    Z = r.normal(size=(n, 14))
    Z[:, 4] = .6 * Z[:, 0] + .8 * Z[:, 4]
    beta = np.zeros(14)
    beta[[0, 7]] = [-.9, .8]
    if version == "mended":
        beta[[10, 12]] = [.7, .6]
    s = Z @ beta
    d = pd.DataFrame((Z * 2 + 10).round(2), columns=names)
    d.insert(0, "excerpt", np.arange(1, n + 1))
    d.to_csv("excerpts.csv", index=False)
    rows = [(i + 1, k, round(float(np.clip(5 + s[i] + r.normal(0, .8), 0, 10)), 1)) for i in range(n) for k in range(1, 9)]
    pd.DataFrame(rows, columns=["excerpt", "listener", "warmth"]).to_csv("ratings.csv", index=False)
