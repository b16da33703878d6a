"""Portability: methods of one optimizer under another, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from failbench.prediction.slices import RunSetting
from failbench.reporting.cells import ABSENT, percent, three_decimals, with_interval
from failbench.reporting.labels import ARCHITECTURE_LABELS, METHOD_LABELS, method_label
from failbench.reporting.reported import reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.statistics.comparison import Comparison, contrasts_of
from failbench.studies.portability.results import ADAPTIVE, FIXED, HOME, HOME_ADAPTIVE, RECALIBRATED

OPTIMIZER_LABELS: Final = {"adamw": "AdamW", "sgd": "SGD"}
SCALE_LABELS: Final = {
    HOME: "as tuned",
    FIXED: "fixed",
    RECALIBRATED: "recalibrated",
    ADAPTIVE: "adaptive",
    HOME_ADAPTIVE: "adaptive",
}
"""Conditions in the order of the table, and how their thresholds are called."""

RATES_NOTE = (
    "Accuracy in percent with {interval:g} % intervals by resampling scenarios within categories, "
    "all runs of a scenario moving together. Methods take thresholds, weights and training from "
    "runs of {home} alone, and are tested on scenarios that they were trained on under neither. As "
    "tuned: on runs of {home}. Fixed: the same on runs of {away}. Recalibrated: features are read "
    "in standard deviations of successful runs of {away}, which moves every threshold. Adaptive: "
    "what is held against successful runs of {home} is how a feature changed since the run's own "
    "first {steps} steps; runs that failed by then keep the fixed thresholds. Reported: the "
    "paper's rules on its own scenarios ({place}), above the number given at home. –: not reported."
)
CONTRASTS_NOTE = (
    "Differences in accuracy in points, left less right, with {interval:g} % intervals by "
    "resampling scenarios. p: corrected resampled t test, adjusted by Holm's method over the "
    "contrasts of the method. Equivalence: the larger p, not adjusted, of the two one-sided tests "
    "of a margin of {margin} points; smallest margin: from which on they would have shown it; "
    "detectable: the smallest difference that this study finds with {power:g} % power, before "
    "adjustment. n = {n} scenarios."
)


def condition_label(condition: str, home: RunSetting, away: RunSetting) -> str:
    """What a condition is called: the runs, and how thresholds came to them."""
    setting = home if condition in (HOME, HOME_ADAPTIVE) else away
    return f"{_name(setting, home, away)}, {SCALE_LABELS[condition]}"


def portability_table(
    rates: pl.DataFrame,
    reported: Mapping[str, object],
    *,
    home: RunSetting,
    away: RunSetting,
    own_history_steps: int,
    confidence: float,
) -> Table:
    """Accuracy of every method in every condition, the paper's above them.

    Parameters
    ----------
    rates
        As :class:`failbench.studies.portability.results.Portability` holds them.
    reported
        The parsed ``data/reported/paper.yaml``.
    home, away
        The settings that methods were carried between.
    own_history_steps
        Steps that count as a run's early history.
    confidence
        Of the intervals, as a fraction.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says, or a method
        has no label.
    """
    paper = validate_reported(reported)
    accuracies = rates.filter(pl.col("metric") == "accuracy")
    row = {
        HOME: f"> {percent(reported_number(paper, 'adam_accuracy_floor'))}",
        FIXED: percent(reported_number(paper, "sgd_accuracy")),
    }
    rows = [("Rules, reported", *(row.get(one, ABSENT) for one in SCALE_LABELS), ABSENT, ABSENT)]
    for method in _methods(accuracies):
        mine = accuracies.filter(pl.col("method") == method)
        cells = (_cell(mine, condition) for condition in SCALE_LABELS)
        sizes = (str(max(mine[name].to_list())) for name in ("n", "runs"))
        rows.append((method_label(method), *cells, *sizes))
    return Table(
        "portability",
        (
            Column("Method", align="left"),
            *(Column(condition_label(one, home, away)) for one in SCALE_LABELS),
            Column("Scenarios"),
            Column("Runs"),
        ),
        tuple(rows),
        f"What methods of {_name(home, home, away)} are worth under {_name(away, home, away)}, "
        "by how their thresholds are carried over.",
        (
            RATES_NOTE.format(
                interval=100 * confidence,
                home=_name(home, home, away),
                away=_name(away, home, away),
                steps=own_history_steps,
                place=paper.claims["sgd_accuracy"].place,
            ),
        ),
    )


def portability_contrasts_table(
    comparisons: Sequence[Comparison],
    *,
    home: RunSetting,
    away: RunSetting,
    margin: float,
    power: float,
    confidence: float,
) -> Table:
    """The contrasts of each method, under the tests of difference and of equivalence.

    Parameters
    ----------
    comparisons
        As :class:`failbench.studies.portability.results.Portability` holds them.
    home, away
        The settings that methods were carried between.
    margin, power, confidence
        Of the tests, as fractions.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    named = contrasts_of(comparisons)
    rows = []
    for one in named:
        difference = (
            percent(one.difference)
            if one.ci_low is None or one.ci_high is None
            else with_interval(one.difference, one.ci_low, one.ci_high)
        )
        detectable = one.detectable_difference
        rows.append(
            (
                method_label(one.feature_set),
                condition_label(one.left, home, away),
                condition_label(one.right, home, away),
                difference,
                three_decimals(one.reported_p),
                three_decimals(one.p_equivalence),
                "shown" if one.equivalent else "not shown",
                percent(one.smallest_margin),
                ABSENT if detectable is None else percent(detectable),
            )
        )
    return Table(
        "portability_contrasts",
        (
            Column("Method", align="left"),
            Column("Left", align="left"),
            Column("Right", align="left"),
            Column("Difference"),
            Column("p (Holm)"),
            Column("p", "equivalence"),
            Column("Verdict", "equivalence"),
            Column("Smallest margin"),
            Column("Detectable"),
        ),
        tuple(rows),
        "Whether carrying thresholds over makes up for another optimizer.",
        (
            CONTRASTS_NOTE.format(
                interval=100 * confidence,
                margin=percent(margin),
                power=100 * power,
                n=max((one.n for one in named), default=0),
            ),
        ),
    )


def _name(setting: RunSetting, home: RunSetting, away: RunSetting) -> str:
    """The optimizer, and the architecture where that is what differs."""
    optimizer = OPTIMIZER_LABELS[setting.optimizer]
    if home.architecture == away.architecture:
        return optimizer
    return f"{ARCHITECTURE_LABELS[setting.architecture]} with {optimizer}"


def _methods(rates: pl.DataFrame) -> list[str]:
    found = set(rates["method"])
    for name in sorted(found):
        method_label(name)
    return [name for name in METHOD_LABELS if name in found]


def _cell(rates: pl.DataFrame, condition: str) -> str:
    found = rates.filter(pl.col("condition") == condition)
    if found.is_empty():
        return ABSENT
    row = found.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])
