"""What diagnoses cost: the shares of those who answer, times what each of them costs."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.base.vocabulary import Route
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_scenarios


class UnitCosts(Record):
    """Cost of one answer by route, assumed and not measured; the section ``costs``."""

    rules: float = Field(ge=0)
    classifier: float = Field(ge=0)
    human: float = Field(ge=0)

    def by_route(self) -> dict[Route, float]:
        """The costs, by the routes that diagnoses name."""
        return {"rules": self.rules, "classifier": self.classifier, "human": self.human}


def cost_per_run(shares: Mapping[Route, float], costs: UnitCosts) -> float:
    """Mean cost of a diagnosis, in units of ``costs``.

    The paper's section 9.1 has C_total = C_auto (1 - P_abstain) + C_human P_abstain, where rules
    answer or a person does; a classifier that answers some adds its share times its own cost.

    Parameters
    ----------
    shares
        Share of runs that each route answered; they add up to one.
    costs
        Cost of one answer of each.
    """
    units = costs.by_route()
    return sum(share * units[route] for route, share in shares.items())


def cost_metrics(predictions: pl.DataFrame, costs: UnitCosts) -> tuple[ValueMetric, ...]:
    """Mean cost of a diagnosis of a hybrid; nothing where predictions do not say who answered.

    Its interval is about who answers; the unit costs are taken as given.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one method and one feature set.
    costs
        Cost of one answer of each route.
    """
    if predictions["route"].is_null().any():
        return ()
    cost = pl.col("route").replace_strict(costs.by_route(), return_dtype=pl.Float64)
    return (
        ValueMetric(
            "cost_per_run",
            over_scenarios(predictions, cost),
            "expected cost of a diagnosis of a run of a new scenario, in units of the assumed "
            "costs",
        ),
    )
