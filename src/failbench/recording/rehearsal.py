"""Imported by the fork server alone: what torch imports only when it is used is imported here.

A run that has to compile a module has up to 2 MiB more memory than one that finds it compiled.
"""

from __future__ import annotations

import io

import torch
from torch import nn


def rehearse() -> None:
    """Train and store a smallest model: no run needs it, and each would import what it needs."""
    model = nn.Linear(1, 1)
    for make in (torch.optim.AdamW, torch.optim.SGD):
        optimizer = make(model.parameters(), fused=True)
        model(torch.ones(1, 1)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    torch.load(file)


rehearse()
