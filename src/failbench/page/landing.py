"""Landing: the finding, and accuracies reported and measured, as the first view shows them."""

from __future__ import annotations

from collections.abc import Mapping

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.captions import DEVELOPMENT_NOTE, SCALE_NOTE
from failbench.reporting.cells import Measured
from failbench.reporting.labels import (
    in_label_order,
    is_blind,
    made_in_view,
    method_label,
    reads_label,
    reads_true_category,
)
from failbench.reporting.reported import Reported
from failbench.studies.intervals.finding import finding

ESTIMATE = ("value", "ci_low", "ci_high", "n")


def landing(
    measured: Measured,
    paper: Reported,
    majority: Mapping[str, float],
    *,
    confidence: float,
    repeats: int,
    seeds: int,
) -> dict[str, object]:
    """What the first view shows.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    paper
        The numbers that the paper prints.
    majority
        Accuracy of always naming the most frequent category, with its ``n``.
    confidence
        Of the measured intervals, as a fraction.
    repeats, seeds
        Of the main study.

    Returns
    -------
    dict
        Texts, and ``rows``: methods in the order of labels, those last that are development and
        those after them that are told the true category; each with ``measured`` and, where the
        paper has a number, ``reported``, as fractions.
    """
    of_methods = measured[PRIMARY_SET]
    rows = [_row(method, of_methods[method], paper) for method in _in_order(of_methods)]
    blind = [row for row in rows if not (row["told"] or row["development"])]
    n = int(next(iter(of_methods.values()))["accuracy"]["n"])
    text = finding(measured, paper, confidence=confidence).strip()
    return {
        "finding": text,
        "scale": SCALE_NOTE,
        "majority": dict(majority),
        "rows": rows,
        "title": "How often each method names the right cause of a failure",
        "description": f"Dots with intervals for {len(rows)} measured methods, {len(blind)} of "
        f"which diagnose scenarios that neither they nor their authors have seen, and diamonds for "
        f"what the paper reports. {text}",
        "caption": [
            f"Failures of {n} scenarios in the reference setting, {seeds} seeds, {repeats} repeats "
            f"of the folds, the paper's 19 features; each answer is by a fit that has not learnt "
            f"from its scenario. {100 * confidence:g} % intervals by resampling scenarios and "
            "seeds. The paper's scenarios are others than these, and not released.",
            f"* {DEVELOPMENT_NOTE}",
            "Hollow: methods that are handed the true category, wholly or for part of their "
            "answers. They show what an assumption about people comes to, and are no diagnosis.",
        ],
    }


def _in_order(methods: Mapping[str, object]) -> list[str]:
    """Blind methods, then development, then those that are told; within these by label order."""
    return sorted(
        in_label_order(methods),
        key=lambda method: (not is_blind(method), reads_true_category(method)),
    )


def _row(
    method: str, estimates: Mapping[str, Mapping[str, float]], paper: Reported
) -> dict[str, object]:
    reported = paper.tables.methods.rows.get(method)
    return {
        "method": method,
        "label": method_label(method),
        "reads": reads_label(method),
        "told": reads_true_category(method),
        "development": made_in_view(method) and not reads_true_category(method),
        "measured": {key: estimates["accuracy"][key] for key in ESTIMATE},
        "reported": None
        if reported is None
        else {
            "value": reported.accuracy,
            "ci_low": None if reported.interval is None else reported.interval[0],
            "ci_high": None if reported.interval is None else reported.interval[1],
        },
    }
