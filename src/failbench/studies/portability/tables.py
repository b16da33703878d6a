"""Portability: methods of one optimizer under another, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final

import polars as pl

from failbench.prediction.slices import RunSetting
from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, percent, three_decimals, with_interval
from failbench.reporting.labels import ARCHITECTURE_LABELS, METHOD_LABELS, method_label
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.statistics.comparison import Comparison, Difference
from failbench.statistics.significance import ComparisonSettings
from failbench.studies.portability.settings import (
    ADAPTIVE,
    FIXED,
    HOME,
    HOME_ADAPTIVE,
    ON_KNOWN,
    RECALIBRATED,
    PortabilitySettings,
)

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
    "then their seeds. Methods take thresholds, weights and training from runs of {home} alone, "
    "and are tested on scenarios that they were trained on under neither. As tuned: on runs of "
    "{home}. Fixed: the same on runs of {away}. Recalibrated: features are read in standard "
    "deviations of successful runs of {away}, which moves every threshold. Adaptive: what is held "
    "against successful runs of {home} is how a feature changed since the run's own first {steps} "
    "steps; runs that failed by then keep the fixed thresholds. Reported: rules of the original on "
    "its own scenarios ({place}), which does not say which rules; at home above the number given. "
    "–: not reported."
)
KNOWN_NOTE = (
    "Methods on what the monitor knows read no features. Fixed: runs of {away} are held against "
    "bounds from successful runs of {home}; recalibrated: against those of {away}. A run's own "
    "first steps bound nothing, so that they have no adaptive condition (–)."
)
CONTRASTS_NOTE = (
    "Differences in accuracy in points, left less right, with {interval:g} % intervals by "
    "resampling scenarios within categories, then their seeds. p: corrected resampled t test, "
    "adjusted by Holm's method over the contrasts of the method. Equivalence: the larger p, not "
    "adjusted, of the two one-sided tests of a margin of {margin} points; smallest margin: from "
    "which on they would have shown it; detectable: the smallest difference that this study finds "
    "with {power:g} % power, before adjustment. –: in-sample (development), and not tested. "
    "n = {n} scenarios."
)


def condition_label(condition: str, home: RunSetting, away: RunSetting) -> str:
    """What a condition is called: the runs, and how thresholds came to them."""
    setting = home if condition in (HOME, HOME_ADAPTIVE) else away
    return f"{_name(setting, home, away)}, {SCALE_LABELS[condition]}"


def portability_table(
    rates: pl.DataFrame, paper: Reported, settings: PortabilitySettings, confidence: float
) -> Table:
    """Accuracy of every method in every condition, the paper's above them."""
    home, away = settings.home, settings.away
    accuracies = rates.filter(pl.col("metric") == "accuracy")
    return Table.of(
        "portability",
        (
            Column("Method", align="left", cell=itemgetter("method")),
            *(
                Column(condition_label(condition, home, away), cell=itemgetter(condition))
                for condition in SCALE_LABELS
            ),
            Column("Scenarios", cell=itemgetter("n")),
            Column("Runs", cell=itemgetter("runs")),
        ),
        (
            _reported_row(paper),
            *(
                _measured_row(method, accuracies.filter(pl.col("method") == method))
                for method in _methods(accuracies)
            ),
        ),
        f"What methods of {_name(home, home, away)} are worth under {_name(away, home, away)}, "
        "by how their thresholds are carried over.",
        (
            RATES_NOTE.format(
                interval=100 * confidence,
                home=_name(home, home, away),
                away=_name(away, home, away),
                steps=settings.own_history_steps,
                place=paper.claims["sgd_accuracy"].place,
            ),
            *_known_note(accuracies, home, away),
            *development_note(accuracies["method"].unique()),
        ),
    )


def _known_note(rates: pl.DataFrame, home: RunSetting, away: RunSetting) -> tuple[str, ...]:
    if set(ON_KNOWN).isdisjoint(rates["method"]):
        return ()
    return (KNOWN_NOTE.format(home=_name(home, home, away), away=_name(away, home, away)),)


def _reported_row(paper: Reported) -> dict[str, str]:
    """The original's rules, whichever they are; of the other conditions it says nothing."""
    return {
        "method": "Rules, reported",
        **dict.fromkeys(SCALE_LABELS, ABSENT),
        HOME: f"> {percent(reported_number(paper, 'adam_accuracy_floor'))}",
        FIXED: percent(reported_number(paper, "sgd_accuracy")),
        "n": ABSENT,
        "runs": ABSENT,
    }


def _measured_row(method: str, rates: pl.DataFrame) -> dict[str, str]:
    """A method's accuracies by condition, and of how many scenarios and runs they are."""
    return {
        "method": method_label(method),
        **{condition: _cell(rates, condition) for condition in SCALE_LABELS},
        **{size: str(max(rates[size].to_list())) for size in ("n", "runs")},
    }


def portability_contrasts_table(
    contrasts: Sequence[Difference], settings: PortabilitySettings, tests: ComparisonSettings
) -> Table:
    """The contrasts of each method, under the tests of difference and of equivalence."""
    return Table.of(
        "portability_contrasts",
        _contrast_columns(settings.home, settings.away),
        contrasts,
        "Whether carrying thresholds over makes up for another optimizer.",
        (
            CONTRASTS_NOTE.format(
                interval=100 * tests.confidence,
                margin=percent(tests.equivalence_margin),
                power=100 * tests.power,
                n=max((contrast.n for contrast in contrasts), default=0),
            ),
            *development_note(contrast.feature_set for contrast in contrasts),
        ),
    )


def _contrast_columns(home: RunSetting, away: RunSetting) -> tuple[Column, ...]:
    return (
        Column("Method", align="left", cell=lambda contrast: method_label(contrast.feature_set)),
        Column(
            "Left", align="left", cell=lambda contrast: condition_label(contrast.left, home, away)
        ),
        Column(
            "Right", align="left", cell=lambda contrast: condition_label(contrast.right, home, away)
        ),
        Column("Difference", cell=_difference),
        Column("p (Holm)", cell=_tested(lambda each: three_decimals(each.reported_p))),
        Column("p", "equivalence", cell=_tested(lambda each: three_decimals(each.p_equivalence))),
        Column(
            "Verdict",
            "equivalence",
            cell=_tested(lambda each: "shown" if each.equivalent else "not shown"),
        ),
        Column("Smallest margin", cell=_tested(lambda each: percent(each.smallest_margin))),
        Column("Detectable", cell=_tested(_detectable)),
    )


def _tested(cell: Callable[[Comparison], str]) -> Callable[[Difference], str]:
    """A cell that a difference without a test has not."""
    return lambda contrast: cell(contrast) if isinstance(contrast, Comparison) else ABSENT


def _difference(contrast: Difference) -> str:
    if contrast.ci_low is None or contrast.ci_high is None:
        return percent(contrast.difference)
    return with_interval(contrast.difference, contrast.ci_low, contrast.ci_high)


def _detectable(contrast: Comparison) -> str:
    difference = contrast.detectable_difference
    return ABSENT if difference is None else percent(difference)


def _name(setting: RunSetting, home: RunSetting, away: RunSetting) -> str:
    """The optimizer, and the architecture where that is what differs."""
    optimizer = OPTIMIZER_LABELS[setting.optimizer]
    if home.architecture == away.architecture:
        return optimizer
    return f"{ARCHITECTURE_LABELS[setting.architecture]} with {optimizer}"


def _methods(rates: pl.DataFrame) -> list[str]:
    methods = set(rates["method"])
    for name in sorted(methods):
        method_label(name)
    return [name for name in METHOD_LABELS if name in methods]


def _cell(rates: pl.DataFrame, condition: str) -> str:
    matches = rates.filter(pl.col("condition") == condition)
    if matches.is_empty():
        return ABSENT
    row = matches.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])
