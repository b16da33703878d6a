"""Landing: the finding, and accuracies reported and measured, as the first view shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from failbench.base.records import Record
from failbench.base.vocabulary import PRIMARY_SET
from failbench.publish.page.answers import method_facts, shown_order
from failbench.study.cells import Measured
from failbench.study.labels import DEVELOPMENT_NOTE, SCALE_NOTE, is_blind
from failbench.study.paper_numbers import Reported, reported_accuracies
from failbench.study.scope import Scope

TOLD_NOTE: Final = (
    "Hollow: methods that are given the true category, for all or part of their answers. They "
    "show what an assumption about people comes to, and are no diagnosis."
)

ESTIMATE: Final = ("value", "ci_low", "ci_high", "n")


class ShownIntervals(Record):
    """Of the section ``statistics`` of params.yaml, what intervals are said to be."""

    confidence: float = Field(gt=0, lt=1)


def landing(
    measured: Measured,
    paper: Reported,
    scope: Scope,
    finding: str,
    *,
    majority: float,
    confidence: float,
) -> dict[str, object]:
    """What the first view shows, below the finding that the stage ``intervals`` published."""
    of_methods = measured[PRIMARY_SET]
    rows = [_row(method, of_methods[method], paper) for method in shown_order([*of_methods])]
    held_out = sum(map(is_blind, of_methods))
    n = int(next(iter(of_methods.values()))["accuracy"]["n"])
    measured_how = (
        f"Failures of {n} scenarios in the reference setting, {scope.seeds} seeds, "
        f"{scope.repeats} repeats of the folds, the original's 19 features; each answer is by a "
        f"fit that has not learnt from its scenario. {100 * confidence:g} % intervals by "
        "resampling scenarios and seeds. The original's scenarios are others than these, and not "
        "released. One author wrote faults, labels and rules."
    )
    return {
        "finding": finding,
        "scale": SCALE_NOTE,
        "majority": {"value": majority, "n": scope.scenarios},
        "rows": rows,
        "title": "How often each method names the right category of a failure, of five",
        "description": f"Dots with intervals for {len(rows)} measured methods, {held_out} of "
        f"which were not fitted to the scenario that they diagnose, and diamonds for what the "
        f"original reports. {finding}",
        "caption": [measured_how, f"* {DEVELOPMENT_NOTE}", TOLD_NOTE],
    }


def _row(
    method: str, estimates: Mapping[str, Mapping[str, float]], paper: Reported
) -> dict[str, object]:
    reported = reported_accuracies(paper).get(method)
    in_table = paper.tables.methods.rows.get(method)
    low, high = (None, None) if in_table is None else in_table.interval or (None, None)
    there = None if reported is None else {"value": reported, "ci_low": low, "ci_high": high}
    measured = {key: estimates["accuracy"][key] for key in ESTIMATE}
    return {**method_facts(method), "measured": measured, "reported": there}
