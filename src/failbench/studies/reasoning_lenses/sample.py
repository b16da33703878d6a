"""The sample as tables show it: the models, their conditions in order, and shares as cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from failbench.lenses.catalogue import LENSES
from failbench.reporting.cells import percent, with_interval
from failbench.studies.reasoning_lenses.models import Model
from failbench.studies.reasoning_lenses.results import ALL, Rate

SET_LABELS: Final = {lens: lens for lens in LENSES} | {ALL: "all four"}

PARTS: Final = {
    "telling": "where a lens should see the condition",
    "silent": "where it should not",
}
"""Expectations by what they are of."""

MODELS_NOTE: Final = (
    "{n} small transformers of our own, {seeds} seeds in each of {conditions} conditions, with "
    "tokenizers {tokenizers}; {answers} sampled answers to {tasks}. What was done to each model is "
    "known because we did it; the lenses are told traces alone."
)


class Shown(NamedTuple):
    """What tables share."""

    models: Sequence[Model]
    note: str
    confidence: float
    resamples: int
    healthy: str


def models_note(models: Sequence[Model]) -> str:
    """What the models are, with their numbers."""
    tasks = sorted(models[0].tasks)
    answers = sum(joined.part.rows.height for model in models for joined in model.tasks.values())
    return MODELS_NOTE.format(
        n=len(models),
        seeds=len({model.seed for model in models}),
        conditions=len({model.condition for model in models}),
        tokenizers=" and ".join(sorted({model.tokenizer for model in models})),
        answers=f"{answers:,}",
        tasks=", ".join(tasks),
    )


def rate_cell(rate: Rate) -> str:
    """A share in percent with its interval, and that of resampled answers."""
    cell = with_interval(rate.value, rate.ci_low, rate.ci_high)
    if rate.resampled_low is None or rate.resampled_high is None:
        return cell
    return f"{cell} ({percent(rate.resampled_low)} to {percent(rate.resampled_high)})"


def in_order(shown: Shown) -> list[str]:
    """The conditions, the healthy one first."""
    conditions = sorted({model.condition for model in shown.models})
    return sorted(conditions, key=lambda name: (name != shown.healthy, name))
