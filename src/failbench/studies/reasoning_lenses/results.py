"""Results: how often lenses name the condition, and whether verdicts are those expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from failbench.lenses.catalogue import LENSES, Lens
from failbench.lenses.looking import Joined, Look
from failbench.statistics.intervals import wilson
from failbench.studies.reasoning_lenses.expected import Expected
from failbench.studies.reasoning_lenses.models import Model, vectors
from failbench.studies.reasoning_lenses.naming import (
    PRIMARY,
    Asked,
    classifiers,
    named,
    told_apart,
)
from failbench.studies.reasoning_lenses.settings import ReasoningLensesSettings

ALL: Final = "all"

SETS: Final[dict[str, tuple[Lens, ...]]] = {
    **{lens: (lens,) for lens in LENSES},
    ALL: LENSES,
}
"""Lenses whose numbers are read, by name: each alone, and all."""


@dataclass(frozen=True)
class Rate:
    """A share of models, with Wilson's interval."""

    count: float
    n: int
    value: float
    ci_low: float
    ci_high: float
    resampled_low: float | None = None
    resampled_high: float | None = None


@dataclass(frozen=True)
class Naming:
    """What models are named."""

    names: Mapping[tuple[str, str], tuple[str, ...]]
    rates: Mapping[tuple[str, str], Rate]
    pairs: Mapping[str, Mapping[frozenset[str], int]]
    chance: float
    majority: float


@dataclass(frozen=True)
class Kept:
    """How often an expected verdict is given."""

    expected: Expected
    given: int
    n: int
    healthy: int
    n_healthy: int
    others: int
    n_others: int
    usual: str


def naming(models: Sequence[Model], settings: ReasoningLensesSettings) -> Naming:
    """Ask which condition made each model."""
    asked = Asked.of(models, settings.healthy)
    names: dict[tuple[str, str], tuple[str, ...]] = {}
    rates: dict[tuple[str, str], Rate] = {}
    pairs: dict[str, dict[frozenset[str], int]] = {}
    builders = classifiers(settings)
    for which, lenses in SETS.items():
        numbers = vectors(models, lenses)
        for classifier, build in builders.items():
            answers = named(numbers[0], asked, build)
            names[which, classifier] = tuple(answers.tolist())
            rate = _rate(float((answers == asked.condition).sum()), len(models), settings)
            if classifier == PRIMARY:
                # only of the primary one, which takes a millisecond to fit
                rate = _resampled(rate, numbers, asked, settings)
            rates[which, classifier] = rate
        pairs[which] = told_apart(numbers[0], asked, builders[PRIMARY])
    sizes = Counter(asked.condition.tolist())
    return Naming(names, rates, pairs, 1 / len(sizes), max(sizes.values()) / len(models))


def _resampled(
    rate: Rate, numbers: np.ndarray, asked: Asked, settings: ReasoningLensesSettings
) -> Rate:
    build = classifiers(settings)[PRIMARY]
    shares = [(named(draw, asked, build) == asked.condition).mean() for draw in numbers[1:]]
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(shares, (tail, 1 - tail))
    return Rate(rate.count, rate.n, rate.value, rate.ci_low, rate.ci_high, float(low), float(high))


def _rate(count: float, n: int, settings: ReasoningLensesSettings) -> Rate:
    return Rate(count, n, count / n, *wilson(count / n, n, settings.confidence))


def kept(models: Sequence[Model], expected: Sequence[Expected], healthy: str) -> tuple[Kept, ...]:
    """How often each expected verdict is given, of the condition and of others."""
    verdicts = verdict_table(models)
    results = []
    for each in expected:
        of_lens = verdicts.filter(lens=each.lens).with_columns(
            given=pl.col("verdict").is_in(each.verdicts)
        )
        own = of_lens.filter(condition=each.condition)
        baseline = of_lens.filter(condition=healthy)
        others = of_lens.filter(~pl.col("condition").is_in([each.condition, healthy]))
        usual = own.group_by("verdict").len().sort("len", "verdict", descending=[True, False])
        results.append(
            Kept(
                each,
                int(own["given"].sum()),
                own.height,
                int(baseline["given"].sum()),
                baseline.height,
                int(others["given"].sum()),
                others.height,
                usual["verdict"][0],
            )
        )
    return tuple(results)


def kept_rate(
    results: Sequence[Kept], models: Sequence[Model], settings: ReasoningLensesSettings
) -> Rate:
    """The share of slices with the expected verdict, n of the interval being models.

    Tasks of one model are not independent, nor are lenses at it, so that each model counts once.
    """
    given, slices = sum(each.given for each in results), sum(each.n for each in results)
    conditions = {each.expected.condition for each in results}
    n = sum(model.condition in conditions for model in models)
    return Rate(given, n, given / slices, *wilson(given / slices, n, settings.confidence))


def verdict_table(models: Sequence[Model]) -> pl.DataFrame:
    """The verdict of each lens on each model and task."""
    return pl.DataFrame(
        [
            {
                "model": model.name,
                "condition": model.condition,
                "seed": model.seed,
                "tokenizer": model.tokenizer,
                "task": task,
                "lens": lens,
                "verdict": look.verdict,
                "synthesis": joined.synthesis.id,
            }
            for model, task, joined in _slices(models)
            for lens, look in joined.looks.items()
        ]
    )


def number_table(models: Sequence[Model]) -> pl.DataFrame:
    """Every number of each lens on each model and task; null where it is not defined."""
    return pl.DataFrame(
        [
            {
                "model": model.name,
                "condition": model.condition,
                "seed": model.seed,
                "tokenizer": model.tokenizer,
                "task": task,
                "lens": lens,
                "measure": name,
                "value": measure.value,
                "ci_low": measure.ci_low,
                "ci_high": measure.ci_high,
                "n": measure.n,
            }
            for model, task, joined in _slices(models)
            for lens, look in joined.looks.items()
            for name, measure in look.measures.items()
        ]
    ).with_columns(pl.col("value", "ci_low", "ci_high").fill_nan(None))


def look_of(models: Sequence[Model], name: str, task: str, lens: Lens) -> Look:
    """What a lens says of a model on a task."""
    (model,) = (each for each in models if each.name == name)
    return model.tasks[task].looks[lens]


def _slices(models: Sequence[Model]) -> list[tuple[Model, str, Joined]]:
    return [(model, task, joined) for model in models for task, joined in model.tasks.items()]
