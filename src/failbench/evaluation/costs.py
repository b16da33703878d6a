"""What diagnoses cost: the shares of those who answer, times what each of them costs."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.evaluation.bootstrap import Interval
from failbench.evaluation.intervals import IntervalSettings, scenario_intervals
from failbench.evaluation.metrics import ValueMetric
from failbench.evaluation.scenario_values import over_scenarios
from failbench.evaluation.scores import scenario_answers
from failbench.methods.diagnosis import Route
from failbench.scenarios import Record


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


def hybrid_cost(
    predictions: pl.DataFrame, costs: UnitCosts, settings: IntervalSettings
) -> Interval:
    """Mean cost of a diagnosis of a hybrid, with a BCa interval over scenarios.

    The interval is about who answers; the unit costs are taken as given.

    Parameters
    ----------
    predictions
        Rows of ``nested_cv.PREDICTION_SCHEMA`` of one hybrid and one feature set.
    costs
        Cost of one answer of each route.
    settings
        How the interval is made.

    Raises
    ------
    BadInputError
        If a prediction does not say who answered.
    """
    if predictions["route"].is_null().any():
        raise BadInputError(
            "predictions", "route", "is not given.", "Only hybrids say who answered; choose one."
        )
    cost = pl.col("route").replace_strict(costs.by_route(), return_dtype=pl.Float64)
    metric = ValueMetric(
        "cost_per_run",
        over_scenarios(predictions, cost),
        "expected cost of a diagnosis of a new scenario, in units of the assumed costs",
    )
    answers = scenario_answers(predictions)
    return scenario_intervals(answers, (), settings, (metric,))["cost_per_run"]
