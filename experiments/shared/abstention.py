"""What measuring abstention and reporting it share."""

import numpy as np
from pydantic import Field

from failbench.base.arrays import Array
from failbench.base.records import Record

RULES = "improved_rules"
"""The method whose abstentions are studied."""


class AbstentionSettings(Record):
    """What is asked of the abstentions; the section ``abstention`` of params.yaml."""

    feature_set: str
    step: float = Field(gt=0, le=0.1)
    precision: float = Field(gt=0, lt=1)

    @property
    def taus(self) -> Array:
        """The thresholds of the sweep, from one step up to 1."""
        return np.round(np.arange(1, round(1 / self.step) + 1) * self.step, 6)
