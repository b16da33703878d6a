"""Explanations: the answer of one fit to a run, with its evidence as sentences."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.base.explanations import SHOWN, evidence_of
from failbench.publish.page.sentences import evidence_sentence

HOW: Final = (
    "One fit of each method that gives evidence: that of the first repeat, which has not learnt "
    f"from this scenario, asked about the run that is drawn. Of more than {SHOWN} conditions, "
    "rules and trees, which check them in order, show the last, which decide; other methods the "
    "leading ones. The other fits may say something else."
)


def explanations(
    answers: pl.DataFrame, conditions: pl.DataFrame
) -> dict[str, dict[str, dict[str, object]]]:
    """By scenario and method, what one fit says of a run and why."""
    sentences: dict[tuple[str, str], list[str]] = {}
    for row in conditions.sort("run_id", "method", "position").iter_rows(named=True):
        kept = sentences.setdefault((row["run_id"], row["method"]), [])
        kept.append(evidence_sentence(evidence_of(row)))
    explained: dict[str, dict[str, dict[str, object]]] = {}
    for row in answers.sort("run_id", "method").iter_rows(named=True):
        evidence = sentences.get((row["run_id"], row["method"]), [])
        explained.setdefault(row["scenario"], {})[row["method"]] = {
            "answer": row["prediction"],
            "confidence": round(row["confidence"], 3),
            "evidence": evidence,
            "left_out": row["evidence"] - len(evidence),
        }
    return explained
