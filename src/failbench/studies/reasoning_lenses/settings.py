"""Settings of the study: the section ``reasoning_lenses`` of params.yaml."""

from __future__ import annotations

from pydantic import Field

from failbench.lenses.resampling import ResamplingSettings
from failbench.records import Record


class Pictured(Record):
    """What the figure of the lenses draws."""

    task: str
    seed: int
    tokenizer: str
    conditions: tuple[str, ...] = Field(min_length=1, max_length=3)


class ReasoningLensesSettings(Record):
    """The section, with what it takes of ``statistics``."""

    answer_resamples: int = Field(ge=100)
    healthy: str
    trees: int = Field(ge=10)
    pictured: Pictured
    confidence: float = Field(gt=0.5, lt=1)
    seed: int = Field(ge=0)

    @property
    def resampling(self) -> ResamplingSettings:
        """How answers are resampled."""
        return ResamplingSettings(
            resamples=self.answer_resamples, confidence=self.confidence, seed=self.seed
        )
