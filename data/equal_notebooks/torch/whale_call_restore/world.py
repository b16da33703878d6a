import numpy as np
import torch
from torch import nn


def files(version):
    torch.manual_seed(8)
    rng = np.random.default_rng(8)
    bands, width, calls = 12, 10, ["moan", "upcall", "gunshot", "noise"]
    enc = nn.Sequential(nn.Conv1d(bands, width, 5, padding=2), nn.ReLU(), nn.Conv1d(width, width, 3, padding=1), nn.ReLU())
    model = nn.ModuleDict({"encoder": enc, "head": nn.Linear(width, len(calls))})
    state = {k: v.detach().clone() for k, v in model.state_dict().items()}
    if version == "crashing":
        state = {"module." + k: v for k, v in state.items()}
    torch.save({"epoch": 38, "val_loss": 0.2914, "config": {"bands": bands, "width": width, "calls": calls}, "model": state}, "callnet_last.pt")
    np.savez_compressed("snippets_may.npz", spectra=rng.integers(0, 256, (40, bands, 50)).astype("uint8"), minute=np.sort(rng.integers(0, 44640, 40)))
