"""The healthy band: where the features of successful runs lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from failbench.errors import BadInputError


@dataclass(frozen=True)
class HealthyBand:
    """Mean and sample standard deviation of each feature over successful runs.

    Thresholds are the mean plus or minus some standard deviations: the paper's equation 2, which
    takes three of them over 50 successful runs.
    """

    mean: dict[str, float]
    sd: dict[str, float]

    def upper(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely exceeds."""
        return self.mean[feature] + sds * self.sd[feature]

    def lower(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely falls below."""
        return self.mean[feature] - sds * self.sd[feature]


def healthy_band(successes: pd.DataFrame, features: Iterable[str]) -> HealthyBand:
    """Measure the band over the features of successful runs; missing values are left out.

    Raises
    ------
    BadInputError
        If fewer than two runs have a feature: no spread can be measured then.
    """
    columns = successes[list(features)]
    for name, count in columns.count().items():
        if count < 2:
            raise BadInputError(
                "successful runs",
                str(name),
                f"only {count} of {len(columns)} runs have it.",
                "Record the successful runs of this architecture and optimizer first.",
            )
    return HealthyBand(columns.mean().to_dict(), columns.std(ddof=1).to_dict())
