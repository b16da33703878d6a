def files(version):
    import numpy as np, torch
    from torch import nn
    r = np.random.default_rng(2)
    np.save("hydrophone_week31.npy", r.gamma(2, 1, (60, 96)).astype("f4"))
    torch.manual_seed(5)
    c = 8
    w = {}
    for name, m in {"front.0": nn.Conv1d(1, c, 7), "middle": nn.Conv1d(c, 2 * c, 5), "head": nn.Linear(2 * c, 2)}.items():
        for k, v in m.state_dict().items(): w[f"{name}.{k}"] = v
    if version == "crashing": w = {"module." + k: v for k, v in w.items()}
    torch.save({"epoch": 37, "metrics": {"f1": .912, "loss": .141}, "model": {"hyper": {"channels": c, "classes": 2}, "weights": w}}, "spotter_best.pt")
