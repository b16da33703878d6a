"""Models: what the lenses say of each model on each task, and its numbers as one vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from failbench.arrays import Array
from failbench.errors import BadInputError
from failbench.lenses.catalogue import LENSES, Lens
from failbench.lenses.looking import Joined, Look, joined, look
from failbench.lenses.resampling import ResamplingSettings
from failbench.lenses.slices import Slice, scale_of, slices_of
from failbench.studies.reasoning_lenses.expected import Expected

TRACES = "data/reasoning/traces.parquet"
EXPECTED = "data/reasoning/expected_verdicts.csv"


@dataclass(frozen=True)
class Model:
    """A model whose condition is known."""

    name: str
    condition: str
    seed: int
    tokenizer: str
    tasks: Mapping[str, Joined]


def check_traces(traces: pl.DataFrame, expected: Sequence[Expected], healthy: str) -> None:
    """Refuse traces that the question cannot be put to."""
    remedy = "Record the traces again, or restore them with git."
    if traces.is_empty():
        raise BadInputError(TRACES, "(rows)", "there are none.", remedy)
    for name in ("condition", "seed"):
        if traces[name].null_count():
            raise BadInputError(TRACES, name, "is not known of every model.", remedy)
    models = traces.group_by("model").agg(
        pl.col("condition", "seed", "tokenizer").unique(), pl.col("task").unique().sort()
    )
    for name in ("condition", "seed", "tokenizer"):
        if (models[name].list.len() > 1).any():
            raise BadInputError(TRACES, name, "differs within a model.", remedy)
    if models["task"].n_unique() > 1:
        raise BadInputError(TRACES, "task", "not all models have the same tasks.", remedy)
    flat = models.explode("condition", "seed", "tokenizer")
    seeds = flat.group_by("condition", "tokenizer").agg(pl.col("seed").unique().sort())
    if seeds["seed"].n_unique() > 1 or seeds["seed"].list.len().to_numpy().min() < 2:
        problem = "conditions have not the same two seeds or more."
        raise BadInputError(TRACES, "seed", problem, remedy)
    compared = set(flat.filter(condition=healthy)["tokenizer"])
    for tokenizer in sorted(set(flat["tokenizer"]) - compared):
        problem = f"no model of the tokenizer {tokenizer!r} is {healthy}."
        raise BadInputError(TRACES, "tokenizer", problem, remedy)
    asked = {each.condition for each in expected}
    for condition in sorted(set(flat["condition"]) ^ asked):
        known = "no lens is expected to say anything of it" if condition not in asked else ""
        problem = f"{condition!r}: {known or 'there is no model of this condition'}."
        raise BadInputError(EXPECTED, "condition", problem, "Add or take out its rows.")


def look_at_models(traces: pl.DataFrame, settings: ResamplingSettings) -> tuple[Model, ...]:
    """Look at every model on every task through all lenses, sorted by model.

    The lens ``fft`` reads prompts alone: models that were shown the same ones share its look.
    """
    scale = scale_of(traces)
    spectra: list[Look] = []
    models: dict[str, Model] = {}
    for part in slices_of(traces):
        looks: dict[Lens, Look] = {}
        for lens in LENSES:
            if lens == "fft":
                shared = next((each for each in spectra if _same_prompts(each.part, part)), None)
                if shared is None:
                    shared = look(lens, part, scale, settings)
                    spectra.append(shared)
                looks[lens] = replace(shared, part=part)
            else:
                looks[lens] = look(lens, part, scale, settings)
        assert part.condition is not None  # what check_traces refuses
        assert part.seed is not None
        known = models.get(part.model)
        tasks = {**(known.tasks if known else {}), part.task: joined(looks)}
        models[part.model] = Model(part.model, part.condition, part.seed, part.tokenizer, tasks)
    return tuple(models.values())


def vectors(models: Sequence[Model], lenses: Iterable[Lens]) -> Array:
    """All numbers of some lenses on all tasks, ``[1 + resamples, n_models, n_numbers]``.

    The first is the sample itself. NaN is what is not defined.
    """
    lenses = tuple(lenses)
    return np.stack(
        [
            np.stack(
                [
                    measure.draws
                    for task in sorted(model.tasks)
                    for lens in lenses
                    for measure in model.tasks[task].looks[lens].measures.values()
                ],
                axis=1,
            )
            for model in models
        ],
        axis=1,
    )


def _same_prompts(one: Slice, other: Slice) -> bool:
    columns = ("length", "depth", "item", "prompt_ids")
    return (
        one.tokenizer == other.tokenizer
        and one.task == other.task
        and one.rows.select(columns).equals(other.rows.select(columns))
    )
