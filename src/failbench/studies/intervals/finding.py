"""The finding: what the methods table comes to, in a sentence."""

from __future__ import annotations

from failbench.features.catalogue import PRIMARY_SET
from failbench.methods.catalogue import ENTRIES
from failbench.reporting.cells import Measured, percent, with_interval
from failbench.reporting.labels import label_inside
from failbench.reporting.reported import Reported

CLASSIFIERS = ("tree or additive model", "ensemble of trees")
"""Families of what the paper calls classifiers."""

RULES = "simple_rules"


def finding(measured: Measured, paper: Reported, *, confidence: float) -> str:
    """The best classifier and the simple rules, measured, beside what the original reports."""
    reported = paper.tables.methods.rows
    accuracies = {
        method: estimates["accuracy"]
        for method, estimates in measured.get(PRIMARY_SET, {}).items()
        if method in reported and method in ENTRIES
    }
    classifiers = [method for method in accuracies if ENTRIES[method].family in CLASSIFIERS]
    if not classifiers:
        return "No classifier was measured.\n"
    best = max(classifiers, key=lambda method: (accuracies[method]["value"], method))

    def beside(method: str) -> str:
        accuracy = accuracies[method]
        interval = with_interval(accuracy["value"], accuracy["ci_low"], accuracy["ci_high"])
        return f"{interval} %, where the original reports {percent(reported[method].accuracy)} %"

    rules = (
        f"; simple rules, which read the error text as well, in {beside(RULES)}"
        if RULES in accuracies
        else ""
    )
    return (
        f"Of the failures of {int(accuracies[best]['n'])} scenarios the best classifier on the "
        f"original's features, {label_inside(best)}, names the right category of cause, one of "
        f"five, in {beside(best)}{rules} "
        f"({100 * confidence:g} % intervals by resampling scenarios and seeds).\n"
    )
