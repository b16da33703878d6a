import numpy as np
import pandas as pd

def files(version):
    r = np.random.default_rng(515)
    n = 320
    z = r.normal(size=(n, 6))
    if version == "crashing":
        s = z @ np.array([.9, -.8, .7, .6, .6, -.7]) + r.normal(0, .7, n)
    else:
        s = 2.2 * (np.abs(z[:, 0]) > .9) - 2.0 * (z[:, 1] > .4) * (z[:, 0] > -1) + r.normal(0, .5, n)
    y = (s > np.quantile(s, .55)).astype(int)
    d = pd.DataFrame({"latency_ms": (1100 + 180 * z[:, 0]).round(), "correct": (70 + 9 * z[:, 1]).round(1), "semantic_err": (6 + 1.5 * z[:, 2]).round(1),
                      "phonemic_err": (5 + 1.5 * z[:, 3]).round(1), "pauses": (12 + 3 * z[:, 4]).round(1), "word_rate": (95 + 15 * z[:, 5]).round(1), "aphasia": y})
    d.loc[r.choice(n, 6, replace=False), "pauses"] = np.nan
    d.to_csv("naming_task.csv", index=False)
