"""Architecture stability: whether methods do as well on every architecture, as tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.prediction.fold_plans import LEFT_OUT
from failbench.reporting.cells import ABSENT, percent, three_decimals, with_interval
from failbench.reporting.labels import ARCHITECTURE_LABELS, in_label_order, method_label
from failbench.reporting.reported import validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.architectures.measure import RECORDED, THRESHOLDS, ArchitecturesSettings
from failbench.studies.architectures.rates import AGAINST_OTHERS, ALL, RULES
from failbench.studies.architectures.rates import SPREAD as SPREAD_METRIC
from failbench.studies.architectures.tables import (
    SPREAD,
    architectures_in,
    found,
    number,
    rate_cell,
    spread,
    threshold_label,
    values_of,
)

STABILITY_NOTE = (
    "Points of accuracy over the n scenarios that all architectures have. Farthest: the "
    "architecture farthest from the mean of the others, with a {interval:g} % paired t interval "
    "over scenarios. Equivalence: two one-sided paired t tests of every pair of architectures with "
    "a margin of {margin:g} points, all of which must succeed; p is the largest, and the smallest "
    "margin that would have succeeded is beside it. Detectable: the smallest true difference "
    "between two architectures that this many scenarios would have found with a power of {power:g} "
    "%. Rates that are low everywhere are alike too: read them beside the accuracies. "
    "Tests are conditional on the fitted models. Architecture left out: nothing of the tested "
    "architecture was trained on, its successful runs included."
)
LEFT_OUT_NOTE = (
    "Accuracy in percent on new scenarios (feature set 19), with {interval:g} % intervals by "
    "resampling the scenarios that the architecture has; nothing of the architecture was trained "
    "on, its successful runs included. Reported: the paper's improved rules on its own scenarios "
    "and larger models ({place})."
)


def stability_table(
    table: pl.DataFrame,
    settings: ArchitecturesSettings,
    *,
    healthy_sds: float,
    confidence: float,
) -> Table:
    """Whether accuracy is the same on all architectures: of the rules, and of every method.

    Parameters
    ----------
    table
        As for :func:`architectures_table`.
    settings
        Margin, power, noise and percentile.
    healthy_sds
        Of the thresholds, for their names.
    confidence
        One less it is the level of tests.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    rows, margin = [], settings.equivalence_margin
    for kind in THRESHOLDS:
        label = threshold_label(kind, settings, healthy_sds)
        part = table.filter(pl.col("study") == RULES, pl.col("thresholds") == kind)
        for noise in part["noise"].unique().sort().to_list():
            logs = "as recorded" if noise == RECORDED else f"noise {100 * noise:g} %"
            family = part.filter(pl.col("noise") == noise)
            rows.append(_stability_row("Improved rules", f"{label}; {logs}", family, margin))
    left_out = table.filter(pl.col("study") == LEFT_OUT)
    rows += [
        _stability_row(
            method_label(method),
            "architecture left out",
            left_out.filter(pl.col("method") == method),
            margin,
        )
        for method in in_label_order(left_out["method"])
    ]
    return Table(
        "architecture_stability",
        (
            Column("Method", align="left"),
            Column("Thresholds and logs, or training", align="left"),
            Column(SPREAD),
            Column("Farthest", align="left"),
            Column("from the others"),
            Column("p", "equivalence of every pair"),
            Column("shown", "equivalence of every pair"),
            Column("smallest margin", "equivalence of every pair"),
            Column("Detectable"),
            Column("n"),
        ),
        tuple(rows),
        "Whether accuracy is the same on all architectures.",
        (
            STABILITY_NOTE.format(
                interval=100 * confidence,
                margin=100 * settings.equivalence_margin,
                power=100 * settings.power,
            ),
        ),
    )


def left_out_table(
    table: pl.DataFrame, reported: Mapping[str, object], *, confidence: float
) -> Table:
    """Accuracy of every method on each architecture when it is left out, reported above measured.

    Parameters
    ----------
    table
        As for :func:`architectures_table`.
    reported
        The parsed ``data/reported/paper.yaml``.
    confidence
        Of the intervals, as a fraction.

    Returns
    -------
    Table
        A row for the paper and one a method; a column an architecture that was recorded.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says, or a method
        has no label.
    """
    paper = validate_reported(reported).tables.architectures
    left_out = table.filter(pl.col("study") == LEFT_OUT)
    names = architectures_in(left_out)
    printed = [paper.rows.get(name) for name in names]
    rows = [
        (
            "Improved rules, reported",
            *(
                ABSENT if one is None else with_interval(one.accuracy, *one.interval)
                for one in printed
            ),
            spread([one.accuracy for one in printed if one is not None]),
        )
    ]
    for method in in_label_order(left_out["method"]):
        mine = left_out.filter(pl.col("method") == method)
        cells = (
            rate_cell(mine.filter(pl.col("architecture") == name), "accuracy", RECORDED)
            for name in names
        )
        rows.append((method_label(method), *cells, spread(values_of(mine, "accuracy", RECORDED))))
    return Table(
        "architectures_left_out",
        (
            Column("Method", align="left"),
            *(Column(ARCHITECTURE_LABELS[name]) for name in names),
            Column(SPREAD),
        ),
        tuple(rows),
        "How often each method names the right cause in an architecture that it has not seen.",
        (LEFT_OUT_NOTE.format(interval=100 * confidence, place=paper.place),),
    )


def _stability_row(
    method: str, condition: str, family: pl.DataFrame, margin: float
) -> tuple[str, ...]:
    overall = found(
        family.filter(pl.col("architecture") == ALL), SPREAD_METRIC, float(family["noise"][0])
    )
    against = family.filter(pl.col("metric") == AGAINST_OTHERS)
    order = against.select(pl.col("value").abs()).to_series().arg_max()
    assert order is not None  # a family has at least two architectures
    far = against.row(order, named=True)
    return (
        method,
        condition,
        percent(number(overall["value"])),
        ARCHITECTURE_LABELS[far["architecture"]],
        with_interval(far["value"], far["ci_low"], far["ci_high"]),
        three_decimals(number(overall["p_equivalence"])),
        "yes" if number(overall["smallest_margin"]) <= margin else "no",
        percent(number(overall["smallest_margin"])),
        percent(number(overall["detectable"])),
        str(overall["n"]),
    )
