"""Looking: a lens at a slice, its numbers with intervals, its verdict, and all four together."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Final, cast

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.neighbours.lenses import catalogue, slices
from failbench.neighbours.lenses.catalogue import LENSES, Lens, Measure
from failbench.neighbours.lenses.slices import ResamplingSettings, Scale, Slice
from failbench.statistics.intervals import wilson

SAME: Final = 9  # decimals of a number: what differs by less differs by rounding


@dataclass(frozen=True)
class Measured:
    """What a lens measured, before intervals: numbers in every draw, and what each rests on."""

    draws: Mapping[str, Array]
    sizes: Mapping[str, float]
    points: Callable[[], pl.DataFrame]


# what every lens is as a function: of a slice, the weights of its answers in the sample and in
# every resample, the scale and the confidence
Measuring = Callable[[Slice, Array, Scale, float], Measured]


@dataclass(frozen=True)
class Look:
    """What a lens says of a slice."""

    lens: Lens
    part: Slice
    measures: Mapping[str, Measure]
    rule: catalogue.Rule
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
class View:
    """What one lens or all four say of a slice, beside a reference model if there is one."""

    looks: Mapping[Lens, Look]
    against: Mapping[Lens, Look] | None = None

    @property
    def part(self) -> Slice:
        """Of which slice."""
        return next(iter(self.looks.values())).part

    @property
    def reference(self) -> Slice | None:
        """The slice of the reference."""
        return None if self.against is None else next(iter(self.against.values())).part

    @property
    def is_joint(self) -> bool:
        """Whether all lenses looked."""
        return len(self.looks) == len(LENSES)

    @property
    def synthesis(self) -> catalogue.Synthesis:
        """What four lenses say together."""
        return catalogue.synthesis_of({lens: each.verdict for lens, each in self.looks.items()})


def look(lens: Lens, part: Slice, scale: Scale, settings: ResamplingSettings) -> Look:
    """Look at a slice through a lens."""
    rng = np.random.default_rng(settings.seed)
    weights = slices.answer_weights(part.cells, settings.resamples, rng)
    # imported when it is asked for: survival analysis takes seconds
    module = import_module(f"failbench.neighbours.lenses.{lens}")
    measured = cast("Measuring", getattr(module, f"measure_{lens}"))(
        part, weights, scale, settings.confidence
    )
    measures = {
        # a zero has no sign: what rounding leaves of one differs between processors
        name: _measure(
            kind, measured.draws[name].round(SAME) + 0.0, measured.sizes[name], settings.confidence
        )
        for name, kind in catalogue.measure_kinds()[lens].items()
    }
    return Look(lens, part, measures, catalogue.verdict_of(lens, measures), measured.points)


def look_through_all(part: Slice, scale: Scale, settings: ResamplingSettings) -> View:
    """Look at a slice through all four lenses, and say what they say together."""
    return View({lens: look(lens, part, scale, settings) for lens in LENSES})


def views_of(
    traces: pl.DataFrame,
    reference: pl.DataFrame | None,
    lenses: Iterable[Lens],
    scale: Scale,
    settings: ResamplingSettings,
) -> tuple[View, ...]:
    """Look at every slice of traces, and at the reference on the same tasks."""
    lenses = tuple(lenses)

    def looks(part: Slice) -> dict[Lens, Look]:
        return {lens: look(lens, part, scale, settings) for lens in lenses}

    if reference is None:
        return tuple(View(looks(part)) for part in slices.slices_of(traces))
    references = {part.task: looks(part) for part in slices.slices_of(reference)}
    views = []
    for part in slices.slices_of(traces):
        if part.task not in references:
            problem = "the model to compare with has no trace of this task."
            remedy = f"Add --where task={','.join(references)}, or compare with another."
            raise BadInputError("--against", part.task, problem, remedy)
        known = View(references[part.task])
        views.append(known if known.part.model == part.model else View(looks(part), known.looks))
    return tuple(views)


def differences(of: Look, against: Look) -> dict[str, Measure]:
    """Each number of one look less that of another, with intervals of Zou and Donner (2008)."""
    less = {}
    for name, one in of.measures.items():
        other = against.measures[name]
        value = one.value - other.value
        low = value - math.hypot(one.value - one.ci_low, other.ci_high - other.value)
        high = value + math.hypot(one.ci_high - one.value, other.value - other.ci_low)
        less[name] = replace(one, value=value, ci_low=low, ci_high=high)
    return less


def _measure(kind: catalogue.MeasureKind, draws: Array, size: float, confidence: float) -> Measure:
    value = float(draws[0])
    low, high = math.nan, math.nan
    if not math.isfinite(value):
        value = math.nan
    elif kind.interval == "wilson":
        low, high = wilson(value, size, confidence)
    elif kind.interval == "fixed":
        low, high = value, value
    else:
        low, high = percentile_interval(draws, confidence)
    return Measure(kind, value, low, high, round(size), draws)


def percentile_interval(draws: Array, confidence: float) -> tuple[float, float]:
    """Quantiles of resamples (Efron, 1979) around the value; NaN if over a tenth has none."""
    finite = draws[1:][np.isfinite(draws[1:])]
    if len(finite) < 0.9 * (len(draws) - 1):
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    low, high = np.quantile(finite, (tail, 1 - tail))
    return min(float(low), float(draws[0])), max(float(high), float(draws[0]))


_KEYS: Final = ("model", "condition", "seed", "tokenizer", "task")


def look_at_models(traces: pl.DataFrame, settings: ResamplingSettings) -> tuple[View, ...]:
    """Look at all models through all lenses; of equal prompts they share the look of ``fft``."""
    columns = ("tokenizer", "task", "length", "depth", "item", "prompt_ids")
    scale, spectra, found = slices.scale_of(traces), list[tuple[pl.DataFrame, Look]](), []
    for part in slices.slices_of(traces):
        prompts = part.rows.select(columns)
        spectrum = next((of for known, of in spectra if known.equals(prompts)), None)
        if spectrum is None:
            spectrum = look("fft", part, scale, settings)
            spectra.append((prompts, spectrum))
        shared = replace(spectrum, part=part)
        looks = (shared if lens == "fft" else look(lens, part, scale, settings) for lens in LENSES)
        found.append(View(dict(zip(LENSES, looks, strict=True))))
    return tuple(found)


def verdict_table(views: Iterable[View]) -> pl.DataFrame:
    """The verdict of each lens on each model and task, and what they say together."""
    rows = [
        {**_keys(each), "lens": lens, "verdict": of.verdict, "synthesis": each.synthesis.id}
        for each in views
        for lens, of in each.looks.items()
    ]
    return pl.DataFrame(rows)


def measure_table(views: Iterable[View]) -> pl.DataFrame:
    """Every number of each lens on each model and task; null where it is not defined."""
    ends = ("value", "ci_low", "ci_high")
    rows = [
        {**_keys(each), "lens": lens, "measure": name}
        | {end: getattr(measure, end) for end in (*ends, "n")}
        for each in views
        for lens, of in each.looks.items()
        for name, measure in of.measures.items()
    ]
    return pl.DataFrame(rows).with_columns(pl.col(ends).fill_nan(None))


def _keys(each: View) -> dict[str, Any]:
    return {key: getattr(each.part, key) for key in _KEYS}
