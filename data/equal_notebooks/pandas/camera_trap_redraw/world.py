def files(version):
    import numpy as np
    r = np.random.default_rng(77)
    species = ["roe deer"] * 52 + ["wild boar"] * 31 + ["red fox"] * 22 + ["badger"] * 13 + ["lynx"] * 2
    r.shuffle(species)
    with open("photos.csv", "w") as f:
        f.write("photo,station,species,taken\n")
        for i, s in enumerate(species):
            f.write(f"{i + 1},K{r.integers(1, 5)},{s},2023-{r.integers(3, 6):02d}-{r.integers(1, 29):02d} {r.integers(0, 24):02d}:{r.integers(0, 60):02d}\n")

def seed(version):
    return 4 if version == "crashing" else 3
