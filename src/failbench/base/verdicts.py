"""Diagnoses: the answer of a method to a failed run, with its evidence; and as two tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from failbench.base.predictions import DECIMALS
from failbench.base.vocabulary import Answer, Reason, Route

Side = Literal["above", "below"]


OPPOSITE: dict[Side, Side] = {"above": "below", "below": "above"}

SIGNS: dict[Side, str] = {"above": ">", "below": "<="}


@dataclass(frozen=True)
class Evidence:
    """One signal: a number or words, and the threshold or pattern that it is held against."""

    signal: str
    value: float | str
    relation: Literal["above", "below", "matches"]
    threshold: float | str


@dataclass(frozen=True)
class Diagnosis:
    """The cause that a method names, with the signals that support it.

    ``conditions`` are how many a reader must check to verify the answer (Freitas, 2014,
    "Comprehensible classification models"); each method's module defines its count.
    """

    category: Answer
    confidence: float
    evidence: tuple[Evidence, ...] = ()
    conditions: int | None = None
    reason: Reason | None = None
    route: Route | None = None


SHOWN: Final = 5  # conditions of an answer that are kept
DIGITS: Final = 6  # significant digits of the numbers that are kept

CHECKED_IN_ORDER: Final = ("simple_rules", "improved_rules", "learned_rules", "decision_tree")
"""Methods that check conditions in order, so that the last ones decide; of others the first do."""

ANSWER_SCHEMA: Final = pl.Schema(
    {
        **dict.fromkeys(("run_id", "scenario", "method", "prediction"), pl.String),
        "confidence": pl.Float64,
        "evidence": pl.Int32,  # conditions that the answer has in all
    }
)
CONDITION_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String,
        "method": pl.String,
        "position": pl.Int32,
        "signal": pl.String,
        "number": pl.Float64,
        "words": pl.String,
        "relation": pl.String,
        "threshold": pl.Float64,
        "pattern": pl.String,
    }
)
"""A row per condition: a number and its threshold, or words (empty unless found) and pattern."""


def explained(
    runs: Iterable[tuple[str, str]], method: str, diagnoses: Iterable[Diagnosis]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Answers of a method and their conditions; the runs are named with their scenarios."""
    answers, conditions = [], []
    for (run_id, scenario), diagnosis in zip(runs, diagnoses, strict=True):
        evidence = diagnosis.evidence
        confidence = round(float(diagnosis.confidence), DECIMALS)
        answers.append((run_id, scenario, method, diagnosis.category, confidence, len(evidence)))
        kept = evidence[-SHOWN:] if method in CHECKED_IN_ORDER else evidence[:SHOWN]
        for position, each in enumerate(kept):
            conditions.append((run_id, method, position, *condition_of(each, DIGITS)))
    return (
        pl.DataFrame(answers, schema=ANSWER_SCHEMA, orient="row"),
        pl.DataFrame(conditions, schema=CONDITION_SCHEMA, orient="row"),
    )


def condition_of(evidence: Evidence, digits: int | None = None) -> tuple[object, ...]:
    """Evidence as the columns of ``CONDITION_SCHEMA`` from ``signal`` on, maybe rounded."""
    number, words = _apart(evidence.value, digits)
    threshold, pattern = _apart(evidence.threshold, digits)
    return evidence.signal, number, words, evidence.relation, threshold, pattern


def evidence_of(condition: Mapping[str, object]) -> Evidence:
    """The evidence that a row of ``CONDITION_SCHEMA`` was made of."""
    value, threshold = (
        condition[name] if condition[name] is not None else condition[other]
        for name, other in (("words", "number"), ("pattern", "threshold"))
    )
    # a number that is missing is stored as NaN, so that neither is null
    return Evidence(condition["signal"], value, condition["relation"], threshold)  # type: ignore[arg-type]


def _apart(value: float | str, digits: int | None) -> tuple[float | None, str | None]:
    if isinstance(value, str):
        return None, value
    return float(value if digits is None else f"{value:.{digits}g}"), None
