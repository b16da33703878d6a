import numpy as np
import pandas as pd
import torch

def files(version):
    r = np.random.default_rng(1888)
    n, k, h = 60, 10, 16
    d = pd.DataFrame({"title": [f"Untitled {i}" for i in range(1, n + 1)], "width_cm": r.integers(30, 160, n), "height_cm": r.integers(30, 160, n)})
    for name in ["length", "width", "angle", "curl", "overlap", "density", "pressure", "taper", "wet", "hue_var"]:
        d["stroke_" + name] = r.normal(3, 1, n).round(3)
    d.to_csv("undated_works.csv", index=False)
    g = torch.Generator().manual_seed(5)
    w = lambda *s: torch.randn(*s, generator=g) * .4
    body = "body" if version == "crashing" else "trunk"
    state = {f"{body}.0.weight": w(h, k), f"{body}.0.bias": w(h), f"{body}.2.weight": w(h, h), f"{body}.2.bias": w(h), "head.weight": w(4, h), "head.bias": w(4)}
    torch.save({"state": state, "epoch": 38, "periods": ["early", "harbour", "southern", "late"], "n_hidden": h, "center": torch.full((k,), 3.0), "scale": torch.ones(k)}, "period_net.pt")
