"""Case studies: the cases as records, and how often methods were right about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import polars as pl

from failbench.errors import BadInputError
from failbench.features.catalogue import PRIMARY_SET
from failbench.statistics.estimates import nest
from failbench.studies.case_studies.cases import Case, cases_of
from failbench.studies.case_studies.evidence import CaseDiagnosis, diagnoses_of
from failbench.studies.case_studies.measure import CaseMeasurements
from failbench.verdicts import Diagnosis
from failbench.vocabulary import ANSWERS

ANSWER_LEAVES = ("value", "n", "confidence", "answer", "most_frequent", "most_frequent_share")
"""What the metrics hold of an answer."""


@dataclass(frozen=True)
class CaseAnswer:
    """What a method says of a case in all repeats, and how the fit of the first explains itself."""

    case: Case
    method: str
    diagnosis: Diagnosis
    most_frequent: tuple[str, ...]
    count: int
    right: int
    repeats: int


@dataclass(frozen=True)
class CaseStudies:
    """Everything that the tables and the figure need."""

    cases: tuple[Case, ...]
    facts: pl.DataFrame
    answers: tuple[CaseAnswer, ...]


def case_studies(measured: CaseMeasurements, predictions: pl.DataFrame) -> CaseStudies:
    """Hold what was measured of the cases against the predictions of the main study."""
    cases = cases_of(measured.cases)
    named = {case.name: case for case in cases}
    diagnoses = diagnoses_of(measured.diagnoses, measured.evidence)
    answers = (_answer(named[explained.case], explained, predictions) for explained in diagnoses)
    return CaseStudies(cases, measured.facts, tuple(answers))


def _answer(case: Case, explained: CaseDiagnosis, predictions: pl.DataFrame) -> CaseAnswer:
    stored = predictions.filter(
        pl.col("method") == explained.method,
        pl.col("feature_set") == PRIMARY_SET,
        pl.col("run_id") == case.run_id,
    ).sort("repeat")
    category = explained.diagnosis.category
    if stored.is_empty() or stored["prediction"][0] != category:
        raise BadInputError(
            f"data/predictions/nested_cv/{explained.method}.parquet",
            "prediction",
            f"is not what {explained.method} says of {case.run_id} now, {category}.",
            "Run `dvc repro nested_cv measure_case_studies`.",
        )
    counts = Counter(stored["prediction"])
    count = max(counts.values())
    return CaseAnswer(
        case,
        explained.method,
        explained.diagnosis,
        tuple(answer for answer in ANSWERS if counts[answer] == count),
        count,
        counts[case.category],
        stored.height,
    )


def case_metrics(studies: CaseStudies) -> dict[str, Any]:
    """Facts by case, role and quantity, and answers by case and method, as scalars.

    A fact is of one run and has no interval; of a method, ``value`` is the share of the ``n``
    repeats in which it is right, ``answer`` and ``confidence`` are of the first, and
    ``most_frequent`` is the answer of most of them.
    """
    facts = studies.facts.drop_nulls("value").with_columns(n=pl.lit(1))
    answers = pl.DataFrame(
        [
            {
                "case": answer.case.name,
                "method": answer.method,
                "value": answer.right / answer.repeats,
                "n": answer.repeats,
                "confidence": answer.diagnosis.confidence,
                "answer": answer.diagnosis.category,
                "most_frequent": " or ".join(answer.most_frequent),
                "most_frequent_share": answer.count / answer.repeats,
            }
            for answer in studies.answers
        ]
    )
    return {
        "facts": nest(facts, "case", "role", "quantity", leaves=("value", "n")),
        "answers": nest(answers, "case", "method", leaves=ANSWER_LEAVES),
    }
