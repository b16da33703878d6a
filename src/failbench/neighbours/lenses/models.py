"""Models: looks at all models of a file of traces, and what they say as tables and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.neighbours.lenses.catalogue import LENSES, Lens
from failbench.neighbours.lenses.looking import Joined, Look, joined, look
from failbench.neighbours.lenses.resampling import ResamplingSettings
from failbench.neighbours.lenses.slices import Slice, scale_of, slices_of

_KEYS: Final = ("model", "condition", "seed", "tokenizer", "task")


def look_at_models(traces: pl.DataFrame, settings: ResamplingSettings) -> tuple[Joined, ...]:
    """Look at every model on every task through all lenses, sorted by model and task.

    The lens ``fft`` reads prompts alone: models that were shown the same ones share its look.
    """
    scale, spectra, found = scale_of(traces), list[Look](), []
    for part in slices_of(traces):
        spectrum = next((each for each in spectra if _same_prompts(each.part, part)), None)
        if spectrum is None:
            spectrum = look("fft", part, scale, settings)
            spectra.append(spectrum)
        shared = replace(spectrum, part=part)
        looks: dict[Lens, Look] = {
            lens: shared if lens == "fft" else look(lens, part, scale, settings) for lens in LENSES
        }
        found.append(joined(looks))
    return tuple(found)


def _same_prompts(one: Slice, other: Slice) -> bool:
    columns = ("length", "depth", "item", "prompt_ids")
    return (
        one.tokenizer == other.tokenizer
        and one.task == other.task
        and one.rows.select(columns).equals(other.rows.select(columns))
    )


def verdict_table(looks: Sequence[Joined]) -> pl.DataFrame:
    """The verdict of each lens on each model and task, and what they say together."""
    return pl.DataFrame(
        [
            {**_keys(each), "lens": lens, "verdict": of.verdict, "synthesis": each.synthesis.id}
            for each in looks
            for lens, of in each.looks.items()
        ]
    )


def measure_table(looks: Sequence[Joined]) -> pl.DataFrame:
    """Every number of each lens on each model and task; null where it is not defined."""
    return pl.DataFrame(
        [
            {
                **_keys(each),
                "lens": lens,
                "measure": name,
                "value": measure.value,
                "ci_low": measure.ci_low,
                "ci_high": measure.ci_high,
                "n": measure.n,
            }
            for each in looks
            for lens, of in each.looks.items()
            for name, measure in of.measures.items()
        ]
    ).with_columns(pl.col("value", "ci_low", "ci_high").fill_nan(None))


def _keys(each: Joined) -> dict[str, Any]:
    return {key: getattr(each.part, key) for key in _KEYS}


def vectors(looks: Sequence[Joined], lenses: Sequence[Lens]) -> Array:
    """All numbers of some lenses on all tasks, ``[1 + resamples, n_models, n_numbers]``.

    The first is the sample itself. NaN is what is not defined. All models have the same tasks.
    """
    draws = [
        measure.draws
        for each in looks
        for lens in lenses
        for measure in each.looks[lens].measures.values()
    ]
    n_models = len({each.part.model for each in looks})
    return np.stack(draws, axis=1).reshape(len(draws[0]), n_models, -1)
