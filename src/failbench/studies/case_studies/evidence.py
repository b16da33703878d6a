"""Evidence: what diagnoses of cases rest on, as tables that are saved and read again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from failbench.predictions import DECIMALS
from failbench.verdicts import Diagnosis, Evidence

DIAGNOSIS_SCHEMA = pl.Schema(
    {"case": pl.String, "method": pl.String, "prediction": pl.String, "confidence": pl.Float64}
)

EVIDENCE_SCHEMA = pl.Schema(
    {
        "case": pl.String,
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
"""A row per signal of a diagnosis, in its order: seen was a ``number``, which was held against a
``threshold``, or were ``words``, which were held against a ``pattern``."""


@dataclass(frozen=True)
class CaseDiagnosis:
    """What a method says of a case by a fit that has not learnt from its scenario."""

    case: str
    method: str
    diagnosis: Diagnosis


def diagnoses_table(diagnoses: Iterable[CaseDiagnosis]) -> pl.DataFrame:
    """Diagnoses without their evidence, as rows of ``DIAGNOSIS_SCHEMA``."""
    rows = [
        (row.case, row.method, row.diagnosis.category, row.diagnosis.confidence)
        for row in diagnoses
    ]
    table = pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")
    return table.with_columns(pl.col("confidence").round(DECIMALS))


def evidence_table(diagnoses: Iterable[CaseDiagnosis]) -> pl.DataFrame:
    """The evidence of diagnoses, as rows of ``EVIDENCE_SCHEMA``."""
    return pl.DataFrame(
        [
            {
                "case": row.case,
                "method": row.method,
                "position": position,
                "signal": evidence.signal,
                "number": _number(evidence.value),
                "words": _words(evidence.value),
                "relation": evidence.relation,
                "threshold": _number(evidence.threshold),
                "pattern": _words(evidence.threshold),
            }
            for row in diagnoses
            for position, evidence in enumerate(row.diagnosis.evidence)
        ],
        schema=EVIDENCE_SCHEMA,
    )


def diagnoses_of(diagnoses: pl.DataFrame, evidence: pl.DataFrame) -> tuple[CaseDiagnosis, ...]:
    """The diagnoses that the two tables were made of."""
    seen: dict[tuple[str, str], list[Evidence]] = {}
    for row in evidence.sort("case", "method", "position").iter_rows(named=True):
        value, threshold = (
            row[name] if row[name] is not None else row[other]
            for name, other in (("number", "words"), ("threshold", "pattern"))
        )
        signal = Evidence(row["signal"], value, row["relation"], threshold)
        seen.setdefault((row["case"], row["method"]), []).append(signal)
    return tuple(
        CaseDiagnosis(
            case, method, Diagnosis(answer, confidence, tuple(seen.get((case, method), ())))
        )
        for case, method, answer, confidence in diagnoses.iter_rows()
    )


def _number(value: float | str) -> float | None:
    return None if isinstance(value, str) else float(value)


def _words(value: float | str) -> str | None:
    return value if isinstance(value, str) else None
