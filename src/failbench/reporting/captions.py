"""Captions: what several captions must say alike."""

from __future__ import annotations

from typing import Final

SCALE_NOTE: Final = (
    "Measured on small models: 3,403 runs on a CPU, 2 layers, 0.07 to 10 million parameters "
    "(median 0.20 million), a vocabulary of 512 tokens, 280 to 320 planned steps; the paper's "
    "models have 12 to 110 million parameters."
)
"""Beside every figure of the paper; a test holds it against the recordings."""
