import numpy as np

def files(version):
    rng = np.random.default_rng(14)
    names = ["Alder", "Birch", "Cedar", "Dale", "Elm", "Fern", "Glen", "Heath", "Ivy", "Juniper", "Kiln", "Lime", "Maple", "Nettle", "Oak"]
    with open("branches.csv", "w") as f:
        f.write("branch,turnover,staff,east,north\n")
        for i, n in enumerate(names):
            f.write(f"{n},{120 + 17.3 * i + rng.uniform(0, 9):.1f},{rng.integers(6, 30)},{rng.uniform(0, 60):.1f},{rng.uniform(0, 40):.1f}\n")

def seed(version):
    import torch
    for s in range(1, 1000):
        g = torch.Generator().manual_seed(s)
        low = float((1 + 0.5 * torch.randn(15, generator=g)).min())
        if (-0.3 < low < -0.1) if version == "crashing" else (0.05 < low < 0.2):
            return s
