import numpy as np

def files(version):
    rng = np.random.default_rng(41)
    slots = 48 if version == "crashing" else 96
    t = np.linspace(0, 24, slots, endpoint=False)
    base = np.array([180, 150, 260, 110])[:, None, None]
    shape = 0.7 + 0.5 * np.exp(-((t - 18.5) / 2.2) ** 2) + 0.25 * np.exp(-((t - 8) / 1.5) ** 2)
    load = base * shape[None, None, :] * rng.normal(1, 0.06, (4, 28, slots))
    load -= 60 * np.exp(-((t - 13) / 2) ** 2) * rng.random((4, 28, 1)) * 3
    np.savez_compressed("feeders.npz", load=load.round().astype(np.int16),
                        feeder=np.array(["Elm Street", "Quarry", "Harbour", "Old Mill"]),
                        first_day=np.array("2024-02-05"))
