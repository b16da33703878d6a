"""The finding: what is foreseen with and without information, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from failbench.reporting.cells import signed
from failbench.studies.crash_prediction.comparisons import Contrast
from failbench.studies.crash_prediction.published import TOOLS, Published
from failbench.studies.crash_prediction.settings import COMBINED, RULES
from failbench.studies.crash_prediction.tables import cells_of, interval_cell


def finding(
    table: pl.DataFrame, contrasts: Sequence[Contrast], published: Sequence[Published]
) -> str:
    """Accuracies and gains of small rules and of the dry run, beside the published gains."""
    cells = cells_of(table)

    def reached(predictor: str, arm: str, metric: str = "accuracy") -> str:
        return interval_cell(cells[predictor, arm, metric])

    def gain(predictor: str, left: str = "all") -> str:
        (each,) = (
            each
            for each in contrasts
            if (each.predictor, each.metric, each.left, each.right)
            == (predictor, "accuracy", left, "code")
        )
        low, high = (signed(100 * value) for value in (each.ci_low, each.ci_high))
        return f"{signed(100 * each.difference)} [{low}, {high}]"

    gains = sorted(
        100 * each.gain
        for each in published
        if each.counted == "detection" and each.model not in TOOLS
    )
    judged = sorted(
        100 * each.gain
        for each in published
        if each.counted == "detection and diagnosis" and each.model not in TOOLS
    )
    return (
        f"Whether the next cell of a notebook crashes is foreseen by small rules on its syntax "
        f"tree for {reached(RULES, 'code')} % of {cells[RULES, 'code', 'accuracy']['n']} notebooks "
        f"from code alone and for {reached(RULES, 'all')} % with what the kernel holds "
        f"({gain(RULES)} points); by a sandboxed dry run on objects rebuilt from that, with the "
        f"small rules where it cannot, for {reached(COMBINED, 'all')} % "
        f"({gain(COMBINED)} points), and "
        f"for {reached(COMBINED, 'other')} % with the information of another notebook. It names "
        f"the exception of {reached(COMBINED, 'all', 'named')} % of the crashes. Pyright reaches "
        f"{reached('pyright', 'code')} %, pylint {reached('pylint', 'code')} %. CRANE-LLM reports "
        f"gains of {signed(gains[0])} to {signed(gains[-1])} points for language models "
        f"({signed(judged[0])} to {signed(judged[-1])} where people judged the explanation as "
        f"well), on other notebooks. Notebooks and predictors are both ours, made apart: these "
        "were made with the development pairs, and notebooks of others were not tried.\n"
    )
