"""What measuring the case studies and reporting them share."""

from typing import Final

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.base.verdicts import CONDITION_SCHEMA

EXPLOSION, MISMATCH = "gradient_explosion", "vocabulary_mismatch"
"""The two cases of the paper's section 7.3."""


class CaseStudiesSettings(Record):
    """The section ``case_studies`` of params.yaml."""

    run_seed: int = Field(ge=0)
    smallest_growth: float = Field(gt=1)
    settled_steps: int = Field(ge=1)


CASE_SCHEMA: Final = pl.Schema(
    {
        "case": pl.String,
        "rank": pl.Int32,
        **dict.fromkeys(("candidate", "run_id", "scenario", "category"), pl.String),
        **dict.fromkeys(("onset_step", "failure_step"), pl.Int32),
    }
)
"""A row per run that could have been picked for a case, and what was."""

FACT_SCHEMA: Final = pl.Schema(
    {
        **dict.fromkeys(("case", "role", "run_id", "outcome", "error", "quantity"), pl.String),
        "value": pl.Float64,
    }
)
DIAGNOSIS_SCHEMA: Final = pl.Schema(
    {"case": pl.String, "method": pl.String, "prediction": pl.String, "confidence": pl.Float64}
)
EVIDENCE_SCHEMA: Final = pl.Schema([("case", pl.String), *list(CONDITION_SCHEMA.items())[1:]])
"""A row per condition of a diagnosis, in its order."""
