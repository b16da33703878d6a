from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from abstention import REASONS
from failbench.study.style import (
    CATEGORY_COLOURS,
    LINE,
    TWIN,
)
from hybrid import ROUTE_COLOURS

LEAST_DISTANCE = 20.0
"""In CIE Lab; 2.3 is just noticed (Mahy, Van Eycken and Oosterlinck, 1994)."""

EYES = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
"""Of linear RGB, at full severity: Machado, Oliveira and Fernandes (2009), "A Physiologically-based
Model for Simulation of Color Vision Deficiency", table 1."""

TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""Of linear sRGB (IEC 61966-2-1), with its white point."""

PALETTES = {
    "categories": list(CATEGORY_COLOURS.values()),
    "reasons to abstain": [colour for _, colour in REASONS.values()],
    "routes of hybrids": list(ROUTE_COLOURS.values()),
    "run and twin": [LINE, TWIN],
}


def lab(colour: str, eye: np.ndarray) -> np.ndarray:
    """CIE Lab of what an eye makes of a colour."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    ratio = TO_XYZ @ np.clip(eye @ linear, 0.0, 1.0) / TO_XYZ.sum(axis=1)
    edge = 6 / 29
    f = np.where(ratio > edge**3, np.cbrt(ratio), ratio / (3 * edge**2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(first: str, second: str, eye: np.ndarray) -> float:
    return float(np.linalg.norm(lab(first, eye) - lab(second, eye)))


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("palette", PALETTES)
def test_colours_of_a_palette_stay_apart_for_every_eye(palette, eye):
    red = lab("#FF0000", EYES["normal"])  # as published of this colour space
    assert red == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    for pair in combinations(PALETTES[palette], 2):
        assert distance(*pair, EYES[eye]) >= LEAST_DISTANCE, pair
