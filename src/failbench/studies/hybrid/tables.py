"""Tables of hybrids: what each route is worth, and which thresholds are cheapest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from failbench.methods.hybrid import HybridSettings
from failbench.prediction.main_study import ON_INVARIANTS
from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, Estimate, one_decimal, percent, with_interval
from failbench.reporting.labels import method_label
from failbench.reporting.reported import REPORTED_HYBRIDS, Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.statistics.costs import UnitCosts
from failbench.statistics.estimates import nest
from failbench.studies.hybrid.reported_routes import HYBRIDS, reported_arithmetic, reported_routes
from failbench.studies.hybrid.results import ALL, CONDITIONS
from failbench.studies.hybrid.routing import ROUTES

INVARIANTS_LABEL = "Invariants"
"""Of the route ``rules`` in the hybrid that asks the monitor first."""

ROUTE_LABELS: Mapping[str, str] = {
    "rules": "Rules",
    "classifier": "Random forest",
    "human": "Simulated human",
    ALL: "All",
}

ROUTES_NOTE = (
    "Percent, but for cost; {interval:g} % intervals by resampling n scenarios within categories, "
    "then their seeds. Precision: share of a route's answers that are right, and of all of them "
    "accuracy. Cost: share of the route times what its answer costs ({rules:g} for rules, "
    "{classifier:g} for the forest, {human:g} for a person), which is assumed. The human is "
    "simulated."
)
CONDITIONS_NOTE = (
    "Conditions: how many a reader must check to verify an answer, mean over scenarios. They cover "
    "only the answers that no person gave, {share} % of those of the three-way hybrid: what a "
    "person thought of is not counted."
)
MONITOR_NOTE = (
    "Hybrid, monitor: the first invariant that broke answers, and the random forest where none "
    "did; the original has no such hybrid. Its conditions are not counted (–): that an invariant "
    "broke first also takes that none with precedence over it broke."
)
THRESHOLDS_NOTE = (
    "Cost of a diagnosis in units of the assumed costs, with {interval:g} % intervals by "
    "resampling {n} scenarios within categories, then their seeds. Human and wrong: what a "
    "person's answer and any wrong answer cost; where wrong ones cost nothing it is the C_total of "
    "the paper's section 9.1. Measured: at {low:.2f} and {high:.2f}. Cheapest on these scenarios: "
    "below the first confidence a person answers, above the second the rules; in brackets the "
    "range of what resamples find cheapest, and how many of them agree on the pair. Chosen on one "
    "half: the pair that a random half of the scenarios finds cheapest costs so much on that half, "
    "and so much on the other; saving: the cost at the measured thresholds less that, on the other "
    "half (means and ranges over {halves} halves)."
)


Estimates = Mapping[str, Estimate]
"""By metric."""


@dataclass(frozen=True)
class RouteRow:
    """A row of the table of routes: a route of a hybrid, or all of them."""

    hybrid: str
    route: str
    reported_share: float | None
    reported_precision: float | None
    share: str
    precision: str
    cost: str
    conditions: str
    n: str

    @property
    def label(self) -> str:
        """Who answers."""
        first = self.hybrid == ON_INVARIANTS and self.route == "rules"
        return INVARIANTS_LABEL if first else ROUTE_LABELS[self.route]


ROUTE_COLUMNS = (
    Column("Hybrid", align="left", cell=lambda row: method_label(row.hybrid)),
    Column("Route", align="left", cell=lambda row: row.label),
    Column("Share", "reported", cell=lambda row: _rate(row.reported_share)),
    Column("Precision", "reported", cell=lambda row: _rate(row.reported_precision)),
    Column("Share", "measured", cell=lambda row: row.share),
    Column("Precision", "measured", cell=lambda row: row.precision),
    Column("Cost", "measured", cell=lambda row: row.cost),
    Column("Conditions", "measured", cell=lambda row: row.conditions),
    Column("n", "measured", cell=lambda row: row.n),
)


@dataclass(frozen=True)
class PriceRow:
    """A row of the table of thresholds: a pair of prices, and the estimates at it."""

    human: float
    wrong: float
    estimates: Estimates


def _price_column(heading: str, group: str, metric: str) -> Column:
    return Column(heading, group, cell=lambda row: _cell(row.estimates, metric, _cost))


PRICE, COST, CHEAPEST, HALF = "price", "cost", "cheapest", "chosen on one half"

THRESHOLD_COLUMNS = (
    Column("Human", PRICE, cell=lambda row: f"{row.human:g}"),
    Column("Wrong", PRICE, cell=lambda row: f"{row.wrong:g}"),
    _price_column("Measured", COST, "cost_measured"),
    _price_column("Person alone", COST, "cost_person_alone"),
    _price_column("Cheapest", COST, "cost_best"),
    _price_column("Human below", CHEAPEST, "classifier_from"),
    _price_column("Rules above", CHEAPEST, "rules_from"),
    Column("Agree, %", CHEAPEST, cell=lambda row: percent(row.estimates["agreement"]["value"])),
    _price_column("On it", HALF, "cost_own_half"),
    _price_column("On the other", HALF, "cost_other_half"),
    _price_column("Saving", HALF, "saving_other_half"),
)


def routes_table(
    routes: pl.DataFrame, paper: Reported, costs: UnitCosts, *, confidence: float
) -> Table:
    """Share, precision and cost of each route of every hybrid, reported beside measured."""
    measured = nest(routes, "hybrid", "route", "metric")
    ordered = {hybrid: measured[hybrid] for hybrid in HYBRIDS} | measured
    return Table.of(
        "hybrid",
        ROUTE_COLUMNS,
        [row for hybrid, of in ordered.items() for row in _rows(hybrid, of, paper, costs)],
        "Who answers in the hybrids, how often they are right, and what that costs.",
        (
            ROUTES_NOTE.format(interval=100 * confidence, **costs.model_dump()),
            CONDITIONS_NOTE.format(
                share=percent(1 - measured["hybrid"]["human"]["share"]["value"])
            ),
            reported_arithmetic(paper),
            *((MONITOR_NOTE,) if ON_INVARIANTS in measured else ()),
            *development_note(measured),
        ),
    )


def _rows(
    hybrid: str, measured: Mapping[str, Estimates], paper: Reported, costs: UnitCosts
) -> list[RouteRow]:
    """A row per route that answers anything, then that of all."""
    units = costs.by_route()
    shares, precisions = reported_routes(paper).get(hybrid, ({}, {}))
    rows = [
        RouteRow(
            hybrid,
            route,
            shares.get(route),
            precisions.get(route),
            _cell(measured[route], "share"),
            _cell(measured[route], "precision"),
            _cell(measured[route], "share", partial(_cost, unit=units[route])),
            _conditions(measured[route]),
            _size(measured[route], "share"),
        )
        for route in ROUTES
        if route in measured
    ]
    whole = RouteRow(
        hybrid,
        ALL,
        1.0 if hybrid in HYBRIDS else None,
        reported_number(paper, REPORTED_HYBRIDS[hybrid]) if hybrid in HYBRIDS else None,
        percent(1.0),
        _cell(measured[ALL], "accuracy"),
        _cell(measured[ALL], "cost_per_run", _cost),
        _conditions(measured[ALL]),
        _size(measured[ALL], "accuracy"),
    )
    return [*rows, whole]


def thresholds_table(
    estimates: pl.DataFrame, thresholds: HybridSettings, halves: int, *, confidence: float
) -> Table:
    """The cheapest thresholds at every pair of prices, how sure they are, and what they save."""
    by_price = estimates.group_by("human_cost", "wrong_answer_cost", maintain_order=True)
    return Table.of(
        "hybrid_thresholds",
        THRESHOLD_COLUMNS,
        [PriceRow(human, wrong, nest(part, "metric")) for (human, wrong), part in by_price],
        "Which thresholds of the three-way hybrid are cheapest, and how sure that is.",
        (
            THRESHOLDS_NOTE.format(
                interval=100 * confidence,
                n=" / ".join(str(n) for n in sorted(set(estimates["n"]))),
                low=thresholds.classifier_from,
                high=thresholds.rules_from,
                halves=halves,
            ),
        ),
    )


def _cost(value: float, unit: float = 1.0) -> str:
    return f"{value * unit:.2f}".replace("-", "−")


def _rate(value: float | None) -> str:
    return ABSENT if value is None else percent(value)


def _cell(estimates: Estimates, metric: str, form: Callable[[float], str] = percent) -> str:
    estimate = estimates[metric]
    return with_interval(estimate["value"], estimate["ci_low"], estimate["ci_high"], form)


def _conditions(estimates: Estimates) -> str:
    """Those of the answers that show any; a dash where none does, as none of a person's."""
    return _cell(estimates, CONDITIONS, one_decimal) if CONDITIONS in estimates else ABSENT


def _size(estimates: Estimates, metric: str) -> str:
    return str(estimates[metric]["n"])
