"""Settings of the description of the benchmark."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from failbench.records import Record
from failbench.scenarios import OnsetKind, Outcome

Signal = Literal["learning_rate", "gradient_norm", "unknown_share", "mean_length", "sequences"]
"""What may be drawn beside the loss: of steps, and equal in run and twin to the bit before onset.

Memory and seconds measure the machine, and so differ everywhere."""

SIGNAL_LABELS: Final[dict[Signal, str]] = {
    "learning_rate": "Learning rate",
    "gradient_norm": "Gradient norm before clipping",
    "unknown_share": "Unknown tokens (share)",
    "mean_length": "Mean sequence length (tokens)",
    "sequences": "Batch size (sequences)",
}


class TwinRule(Record):
    """Which failing run of the main study's setting is drawn over its twin.

    Of the runs with this ``seed``, ``onset`` and ``outcome``, the one in the middle when they are
    sorted by the steps from onset to failure, then by name; of an even number, the earlier of two.
    """

    seed: int = Field(ge=0)
    onset: OnsetKind
    outcome: Outcome


class BenchmarkSettings(Record):
    """The section ``benchmark`` of params.yaml, with the confidence of ``statistics``."""

    twin: TwinRule
    signals: Annotated[tuple[Signal, ...], Field(min_length=1)]
    before: int = Field(ge=1)
    after: int = Field(ge=1)
    prompt_steps: int = Field(ge=1)
    confidence: float = Field(gt=0, lt=1)
