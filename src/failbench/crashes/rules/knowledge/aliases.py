"""Small tables that several rules share."""

from __future__ import annotations

from typing import Final

RENAMED: Final = {
    "matplotlib.pylab": "matplotlib.pyplot",
    "numpy.core": "numpy._core",
    "torch.Tensor": "torch.Tensor",
    "sklearn.utils._bunch.Bunch": "sklearn.utils.Bunch",
}
"""Paths that stand for another."""
