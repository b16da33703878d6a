import numpy as np

def files(version):
    rng = np.random.default_rng(19)
    gap = 0.0 if version == "crashing" else 0.14
    with open("docks.csv", "w") as f:
        f.write("dock,departures,morning,noon,evening,weekend\n")
        for i in range(120):
            n = int(rng.integers(40, 900))
            side = 1 if i % 2 else -1
            m = n * np.clip(rng.normal(.30 + side * gap, .03), 0, 1)
            o = n * np.clip(rng.normal(.20 - side * gap / 2, .03), 0, 1)
            e = n * np.clip(rng.normal(.30, .03), 0, 1)
            w = n * np.clip(rng.normal(.28 - side * gap, .03), 0, 1)
            f.write(f"D{i:03d},{n},{m:.0f},{o:.0f},{e:.0f},{w:.0f}\n")
