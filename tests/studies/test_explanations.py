"""Explanations are those of the fits whose answers the main study scores."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

from failbench.base.explanations import SHOWN, evidence_of, explained
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import PRIMARY_SET

DATA = Path(__file__).parents[2] / "data"
ANSWERS = DATA / "measurements/explanations/answers.parquet"
RUN = [("run", "scenario")]

ALL_KINDS = (
    Evidence("max_loss", 8.5, "above", 6.25),
    Evidence("perplexity", math.nan, "below", 3.0),
    Evidence("error_text", "size mismatch", "matches", "size"),
    Evidence("error_text", "", "matches", "killed"),
)


@pytest.mark.parametrize("evidence", ALL_KINDS)
def test_evidence_comes_back_as_it_was(evidence):
    _, conditions = explained(
        [("run", "scenario")], "ebm", [Diagnosis("unknown", 0.5, (evidence,))]
    )
    back = evidence_of(conditions.row(0, named=True))
    assert repr(back) == repr(evidence)


@pytest.mark.parametrize(("method", "first"), [("decision_tree", 4), ("ebm", 0)])
def test_of_many_conditions_a_path_keeps_its_end_and_a_sum_its_beginning(method, first):
    evidence = tuple(Evidence("max_loss", float(i), "above", 0.0) for i in range(SHOWN + 4))
    answers, conditions = explained(
        [("run", "scenario")], method, [Diagnosis("unknown", 0.5, evidence)]
    )
    assert conditions["number"].to_list() == [float(first + i) for i in range(SHOWN)]
    assert answers["evidence"][0] == SHOWN + 4


def test_committed_answers_are_those_that_the_main_study_scores():
    answers = pl.read_parquet(ANSWERS)
    methods = answers["method"].unique().to_list()
    scored = pl.concat(
        pl.read_parquet(DATA / f"predictions/nested_cv/{method}.parquet") for method in methods
    ).filter(pl.col("feature_set") == PRIMARY_SET, pl.col("repeat") == 0)
    both = answers.join(scored, on=("run_id", "method"), suffix="_scored")
    assert both.height == answers.height == 76 * len(methods)
    assert both["prediction"].equals(both["prediction_scored"], check_names=False)
