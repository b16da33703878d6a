"""Hybrid study: what each route is worth, and which thresholds are cheapest, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import polars as pl

from failbench.methods.hybrid import HybridSettings
from failbench.reporting.cells import ABSENT, percent, with_interval
from failbench.reporting.labels import method_label
from failbench.reporting.reported import (
    REPORTED_HYBRIDS,
    Reported,
    reported_number,
    validate_reported,
)
from failbench.reporting.table import Column, Table
from failbench.statistics.costs import UnitCosts
from failbench.studies.hybrid.results import ALL, BEST
from failbench.studies.hybrid.routing import ROUTES
from failbench.vocabulary import Route

ROUTE_LABELS: Mapping[str, str] = {
    "rules": "Rules",
    "classifier": "Random forest",
    "human": "Simulated human",
    ALL: "All",
}
HYBRIDS = ("hybrid", "hybrid_two_way")

ROUTES_NOTE = (
    "Percent, but for cost; {interval:g} % intervals by resampling n scenarios within categories. "
    "Precision: share of a route's answers that are right, and of all of them accuracy. Cost: "
    "share of the route times what its answer costs ({rules:g} for rules, {classifier:g} for the "
    "forest, {human:g} for a person), which is assumed. The human is simulated."
)
ARITHMETIC_NOTE = (
    "Reported: {three_way} for the three-way hybrid, {two_way} for the other. There the parts make "
    "{share:.2f} × {precision} + {rest:.2f} × {classifier} = {sum} %, and not {claimed}; the "
    "{figure} % of the three-way hybrid need people who are right in {human} % of what is left to "
    "them, if the forest is right in {classifier} %, and the paper's are right in {people} %."
)
THRESHOLDS_NOTE = (
    "Cost of a diagnosis in units of the assumed costs, with {interval:g} % intervals by "
    "resampling {n} scenarios within categories. Human and wrong: what a person's answer and any "
    "wrong answer cost; where wrong ones cost nothing it is the C_total of the paper's section "
    "9.1. Measured: at {low:.2f} and {high:.2f}. Cheapest on these scenarios: below the first "
    "confidence a person answers, above the second the rules; in brackets the range of what "
    "resamples find cheapest, and how many of them agree on the pair. Chosen on one half: the pair "
    "that a random half of the scenarios finds cheapest costs so much on that half, and so much on "
    "the other; saving: the cost at the measured thresholds less that, on the other half (means "
    "and ranges over {halves} halves)."
)


def routes_table(
    figures: pl.DataFrame,
    reported: Mapping[str, object],
    costs: UnitCosts,
    *,
    confidence: float,
) -> Table:
    """Share, precision and cost of each route of both hybrids, reported beside measured.

    Parameters
    ----------
    figures
        As :class:`failbench.studies.hybrid.results.HybridStudy` holds them.
    reported
        The parsed ``data/reported/paper.yaml``.
    costs
        What answers cost.
    confidence
        Of the measured intervals, as a fraction.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    units = costs.by_route()
    rows = []
    for hybrid in HYBRIDS:
        part = figures.filter(pl.col("part") == hybrid)
        shares, precisions = reported_routes(paper)[hybrid]
        for route in ROUTES:
            if part.filter(pl.col("key") == route).is_empty():
                continue
            rows.append(
                (
                    method_label(hybrid),
                    ROUTE_LABELS[route],
                    _percent(shares.get(route)),
                    _percent(precisions.get(route)),
                    _cell(part, route, "share"),
                    _cell(part, route, "precision"),
                    _cell(part, route, "share", partial(_cost, unit=units[route])),
                    _size(part, route, "share"),
                )
            )
        claimed = reported_number(paper, REPORTED_HYBRIDS[hybrid])
        accuracy = _cell(part, ALL, "accuracy")
        cost = _cell(part, ALL, "cost_per_run", _cost)
        size = _size(part, ALL, "accuracy")
        everything = (percent(1.0), percent(claimed), percent(1.0), accuracy, cost, size)
        rows.append((method_label(hybrid), ROUTE_LABELS[ALL], *everything))
    return Table(
        "hybrid",
        (
            Column("Hybrid", align="left"),
            Column("Route", align="left"),
            *(Column(one, "reported") for one in ("Share", "Precision")),
            *(Column(one, "measured") for one in ("Share", "Precision", "Cost", "n")),
        ),
        tuple(rows),
        "Who answers in the hybrids, how often they are right, and what that costs.",
        (
            ROUTES_NOTE.format(interval=100 * confidence, **costs.model_dump()),
            _arithmetic(paper),
        ),
    )


def thresholds_table(
    figures: pl.DataFrame, thresholds: HybridSettings, halves: int, *, confidence: float
) -> Table:
    """The cheapest thresholds at every pair of prices, how sure they are, and what they save.

    Parameters
    ----------
    figures
        See :func:`routes_table`.
    thresholds
        Those of the main study.
    halves
        How many random halves were drawn.
    confidence
        Of the intervals, as a fraction.
    """
    part = figures.filter(pl.col("part") == BEST)
    rows = []
    for key in part["key"].unique(maintain_order=True):
        human, wrong = (one.split()[-1] for one in key.split(", "))
        costs = (
            _cell(part, key, metric, _cost)
            for metric in ("cost_measured", "cost_person_alone", "cost_best")
        )
        cheapest = (_cell(part, key, metric, _cost) for metric in ("classifier_from", "rules_from"))
        halved = (
            _cell(part, key, f"{metric}_half", _cost)
            for metric in ("cost_own", "cost_other", "saving_other")
        )
        agreement = _percent(_value(part, key, "agreement"))
        rows.append((human, wrong, *costs, *cheapest, agreement, *halved))
    return Table(
        "hybrid_thresholds",
        (
            *(Column(one, "price") for one in ("Human", "Wrong")),
            *(Column(one, "cost") for one in ("Measured", "Person alone", "Cheapest")),
            *(Column(one, "cheapest") for one in ("Human below", "Rules above", "Agree, %")),
            *(Column(one, "chosen on one half") for one in ("On it", "On the other", "Saving")),
        ),
        tuple(rows),
        "Which thresholds of the three-way hybrid are cheapest, and how sure that is.",
        (
            THRESHOLDS_NOTE.format(
                interval=100 * confidence,
                n=" / ".join(str(n) for n in sorted(set(part["n"]))),
                low=thresholds.classifier_from,
                high=thresholds.rules_from,
                halves=halves,
            ),
        ),
    )


def reported_routes(paper: Reported) -> dict[str, tuple[dict[Route, float], dict[Route, float]]]:
    """Shares and precisions of the routes that the paper gives, by hybrid."""
    shares = _series(paper, "hybrid_shares")
    parts = _series(paper, "hybrid_parts")
    return {
        "hybrid": (
            dict(zip(ROUTES, shares, strict=True)),
            {"rules": reported_number(paper, "hybrid_rules_precision")},
        ),
        "hybrid_two_way": (
            {"rules": parts[0], "classifier": parts[2]},
            {"rules": parts[1], "classifier": parts[3]},
        ),
    }


def _arithmetic(paper: Reported) -> str:
    """What the paper's parts make, held against its totals."""
    (shares, precisions), (parts, rates) = (reported_routes(paper)[one] for one in HYBRIDS)
    total = reported_number(paper, REPORTED_HYBRIDS["hybrid"])
    answered = shares["rules"] * precisions["rules"] + shares["classifier"] * rates["classifier"]
    return ARITHMETIC_NOTE.format(
        three_way=paper.claims["hybrid_shares"].place,
        two_way=paper.claims["hybrid_parts"].place,
        share=parts["rules"],
        precision=percent(rates["rules"]),
        rest=parts["classifier"],
        classifier=percent(rates["classifier"]),
        sum=percent(sum(parts[one] * rates[one] for one in parts)),
        claimed=percent(reported_number(paper, REPORTED_HYBRIDS["hybrid_two_way"])),
        figure=percent(total),
        human=percent((total - answered) / shares["human"]),
        people=percent(reported_number(paper, "human_accuracy")),
    )


def _series(paper: Reported, claim: str) -> tuple[float, ...]:
    value = paper.claims[claim].value
    return value if isinstance(value, tuple) else (value,)


def _cost(value: float, unit: float = 1.0) -> str:
    return f"{value * unit:.2f}".replace("-", "−")


def _percent(value: float | None) -> str:
    return ABSENT if value is None else percent(value)


def _cell(
    figures: pl.DataFrame, key: str, metric: str, form: Callable[[float], str] = percent
) -> str:
    found = _found(figures, key, metric)
    if found is None:
        return ABSENT
    return with_interval(found["value"], found["ci_low"], found["ci_high"], form)


def _value(figures: pl.DataFrame, key: str, metric: str) -> float | None:
    found = _found(figures, key, metric)
    return None if found is None else found["value"]


def _size(figures: pl.DataFrame, key: str, metric: str) -> str:
    found = _found(figures, key, metric)
    return ABSENT if found is None else str(found["n"])


def _found(figures: pl.DataFrame, key: str, metric: str) -> dict[str, float] | None:
    found = figures.filter(pl.col("key") == key, pl.col("metric") == metric)
    return None if found.is_empty() else found.row(0, named=True)
