"""The healthy band: the range of each feature over successful runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from failbench.base.errors import BadInputError


class Band(Protocol):
    """Thresholds around healthy runs, as rules use them."""

    def upper(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely exceeds."""
        ...

    def lower(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely falls below."""
        ...


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


@dataclass(frozen=True)
class PercentileBand:
    """Quantiles of each feature over successful runs, which are the thresholds.

    The paper's section 8.9.5 sets thresholds at a high percentile of healthy runs. The
    number of standard deviations that a rule asks for has no effect here.
    """

    low: dict[str, float]
    high: dict[str, float]

    def upper(self, feature: str, sds: float) -> float:  # noqa: ARG002 - protocol
        """The high quantile."""
        return self.high[feature]

    def lower(self, feature: str, sds: float) -> float:  # noqa: ARG002 - protocol
        """The low quantile."""
        return self.low[feature]


def healthy_band(successes: pd.DataFrame, features: Iterable[str]) -> HealthyBand:
    """Measure the band over the features of successful runs; missing values are ignored."""
    columns = _measured(successes, features)
    return HealthyBand(columns.mean().to_dict(), columns.std(ddof=1).to_dict())


def percentile_band(
    successes: pd.DataFrame, features: Iterable[str], share: float
) -> PercentileBand:
    """The quantiles ``share`` and ``1 - share`` of the features of successful runs.

    Quantiles lie between neighbouring runs (linear interpolation, definition 7 of Hyndman and Fan,
    1996, "Sample quantiles in statistical packages"), so that with fewer than ``1 / (1 - share)``
    runs the high one is hardly below the largest value.
    """
    columns = _measured(successes, features)
    return PercentileBand(columns.quantile(1 - share).to_dict(), columns.quantile(share).to_dict())


def _measured(successes: pd.DataFrame, features: Iterable[str]) -> pd.DataFrame:
    columns = successes[list(features)]
    for name, count in columns.count().items():
        if count < 2:
            raise BadInputError(
                "successful runs",
                str(name),
                f"only {count} of {len(columns)} runs have it.",
                "Record the successful runs of this architecture and optimizer first.",
            )
    return columns
