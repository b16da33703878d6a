"""Names that users give to what they measure, in loops of their own."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import numpy as np


@cache
def _all_names() -> dict[str, tuple[str, ...]]:
    text = files("failbench.neighbours.rendering").joinpath("data/names.json").read_text("utf-8")
    return {of: tuple(names) for of, names in json.loads(text).items()}


def draw_names(rng: np.random.Generator) -> dict[str, str]:
    """A name for the step, for each signal and for the loss on held-out data (``validation``)."""
    return {of: names[rng.integers(len(names))] for of, names in _all_names().items()}
