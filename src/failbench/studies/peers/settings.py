"""Settings of the study of peers: whose verdicts are read, and what is tried of thresholds."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from failbench.records import Record


class PeersStudy(Record):
    """The section ``peers`` of params.yaml."""

    verdicts: tuple[str, ...] = Field(min_length=1)
    factors: tuple[Annotated[float, Field(gt=0)], ...] = Field(min_length=1)
    repeats: int = Field(ge=1)
    methods: tuple[str, ...] = Field(min_length=1)
    monitor_version: str

    @model_validator(mode="after")
    def _factors_are_in_order(self) -> Self:
        if 1.0 not in self.factors or list(self.factors) != sorted(set(self.factors)):
            raise ValueError("factors must rise, and hold 1, which stands for what is documented")
        return self
