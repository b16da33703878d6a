import numpy as np
import pandas as pd

GENERA = "Turdus Parus Sylvia Corvus Emberiza Motacilla Anthus Fringilla Phylloscopus Acrocephalus".split()
EPITHETS = "merula major borin corone citrinella alba trivialis coelebs".split()


def files(version):
    rng = np.random.default_rng(77)
    species = [f"{g} {e}" for g in GENERA for e in rng.choice(EPITHETS, 5, replace=False)]
    centres = rng.normal(0, 2, (50, 8))

    def table(who):
        n = len(who)
        df = pd.DataFrame((centres[who] + rng.normal(0, 1, (n, 8))).round(2), columns=[f"e{i}" for i in range(8)])
        df.insert(0, "recording", [f"xr{int(v)}" for v in rng.integers(10000, 99999, n)])
        df.insert(1, "species", [species[w] for w in who])
        df.insert(2, "quality", rng.choice(["A", "B", "C", "a", "D"], n, p=[0.3, 0.3, 0.2, 0.15, 0.05]))
        return df

    train = table(np.concatenate([np.arange(50), np.arange(50), rng.integers(0, 50, 250)]))
    test = table(np.concatenate([rng.integers(0, 49, 220), [49]]))
    train.loc[:99, "quality"] = "A"
    test.loc[len(test) - 1, "quality"] = "A"
    if version == "crashing":
        g, e = species[49].split()
        test.loc[len(test) - 1, "species"] = g + " " + e[:-1] + "ea"
    order = rng.permutation(len(test))
    train.to_csv("songs_train.csv", index=False)
    test.iloc[order].to_csv("songs_test.csv", index=False)
