"""Every claim of the original that does not fit has one root cause, which the paper counts."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline import REPOSITORY

CAUSES = pl.read_csv(REPOSITORY / "data" / "reported" / "audit_root_causes.csv")
CLAIMS = pl.read_csv(REPOSITORY / "data" / "plots" / "paper_audit.csv", infer_schema_length=None)
TEXT = (REPOSITORY / "paper" / "sections" / "08-audit.typ").read_text(encoding="utf-8")


def test_the_claims_that_do_not_fit_are_those_with_a_root_cause() -> None:
    broken = CLAIMS.filter(pl.col("verdict") == "inconsistent")["claim"]
    assert sorted(CAUSES["claim"]) == sorted(broken)


@pytest.mark.parametrize("cause", CAUSES["root_cause"].unique(maintain_order=True))
def test_a_root_cause_has_a_row_in_the_paper(cause: str) -> None:
    assert f'count-of("{cause}")' in TEXT
