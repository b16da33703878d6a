"""Looking: a lens at a slice, its numbers with intervals, its verdict, and all four together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Protocol

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.neighbours.lenses.catalogue import LENSES, Lens, Rule, Synthesis
from failbench.neighbours.lenses.measured import Measure, Measured, measures_of
from failbench.neighbours.lenses.resampling import ResamplingSettings, answer_weights
from failbench.neighbours.lenses.slices import Scale, Slice
from failbench.neighbours.lenses.verdicts import synthesis_of, verdict_of


class Measuring(Protocol):
    """What every lens is as a function."""

    def __call__(self, part: Slice, weights: Array, scale: Scale, confidence: float) -> Measured:
        """Measure a slice in the sample and in every resample."""


@dataclass(frozen=True)
class Look:
    """What a lens says of a slice."""

    lens: Lens
    part: Slice
    measures: Mapping[str, Measure]
    rule: Rule
    draw: Callable[[], pl.DataFrame] = field(repr=False, compare=False)

    @cached_property
    def points(self) -> pl.DataFrame:
        """For a figure."""
        return self.draw()

    @property
    def verdict(self) -> str:
        """Its name."""
        return self.rule.verdict


@dataclass(frozen=True)
class Joined:
    """What the four lenses say of a slice together."""

    part: Slice
    looks: Mapping[Lens, Look]
    synthesis: Synthesis


@dataclass(frozen=True)
class Difference:
    """A number of one slice less that of another, with its interval."""

    measure: Measure
    value: float
    ci_low: float
    ci_high: float


def measuring(lens: Lens) -> Measuring:
    """The function of a lens, imported when it is asked for: survival analysis takes seconds."""
    function: Measuring = getattr(
        import_module(f"failbench.neighbours.lenses.{lens}"), f"measure_{lens}"
    )
    return function


def look(lens: Lens, part: Slice, scale: Scale, settings: ResamplingSettings) -> Look:
    """Look at a slice through a lens."""
    rng = np.random.default_rng(settings.seed)
    weights = answer_weights(part.cells, settings.resamples, rng)
    measured = measuring(lens)(part, weights, scale, settings.confidence)
    measures = measures_of(lens, measured, settings)
    return Look(lens, part, measures, verdict_of(lens, measures), measured.points)


def look_through_all(part: Slice, scale: Scale, settings: ResamplingSettings) -> Joined:
    """Look at a slice through all four lenses, and say what they say together."""
    return joined({lens: look(lens, part, scale, settings) for lens in LENSES})


def joined(looks: Mapping[Lens, Look]) -> Joined:
    """What four looks at one slice say together."""
    verdicts = {lens: each.verdict for lens, each in looks.items()}
    return Joined(looks["surface"].part, looks, synthesis_of(verdicts))


def differences(of: Look, against: Look) -> dict[str, Difference]:
    """Each number of one look less that of another of the same lens.

    The interval is recovered from the two intervals (Zou and Donner, 2008, "Construction of
    confidence limits about effect measures", Statistics in Medicine 27), as for two independent
    samples: where both models answered the same problems it is rather too wide.
    """
    return {
        name: _difference(measure, against.measures[name]) for name, measure in of.measures.items()
    }


def _difference(of: Measure, against: Measure) -> Difference:
    value = of.value - against.value
    low = value - math.hypot(of.value - of.ci_low, against.ci_high - against.value)
    high = value + math.hypot(of.ci_high - of.value, against.value - against.ci_low)
    return Difference(of, value, low, high)
