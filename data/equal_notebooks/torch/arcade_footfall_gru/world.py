import numpy as np
import pandas as pd

def files(version):
    import torch
    from torch import nn
    rng = np.random.default_rng(2)
    hours = pd.date_range("2024-03-04", periods=24 * 21, freq="h")
    v = rng.poisson(60 + 50 * np.clip(np.sin(2 * np.pi * (np.asarray(hours.hour) - 8) / 24), -0.9, 1))
    pd.DataFrame({"hour": hours, "visitors": v}).to_csv("door_counts.csv", index=False)
    torch.manual_seed(4)
    hidden = 24 if version == "crashing" else 20
    rnn, head = nn.GRU(3, hidden, batch_first=True), nn.Linear(hidden, 12)
    model = {f"rnn.{k}": t for k, t in rnn.state_dict().items()}
    model.update({f"head.{k}": t for k, t in head.state_dict().items()})
    torch.save({"run": {"epoch": 38, "loss": 0.2173}, "states": {"model": model, "scheduler": {"last_epoch": 38}}}, "forecaster.pt")

def seed(version):
    return 11
