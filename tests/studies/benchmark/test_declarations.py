"""What is declared of methods, transfer, checklist and workflow fits the code and the data."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.catalogue import ENTRIES
from failbench.methods.llm.settings import is_language_model
from failbench.studies.benchmark.declarations import (
    CategoryTransfer,
    MethodFacts,
    methods_facts,
    parsed,
    workflow,
)
from failbench.studies.benchmark.workflow_figure import arrows
from failbench.vocabulary import ABSTAIN

PREDICTED = "data/predictions/nested_cv"


def test_methods_that_never_abstain_by_the_table_never_did_and_the_others_do(repository):
    abstained = {}
    for path in sorted((repository / PREDICTED).glob("*.parquet")):
        answers = pl.read_parquet(path, columns=["method", "prediction"])
        for (method,), rows in answers.group_by("method"):
            abstained[method] = ABSTAIN in rows["prediction"]
    declared = {
        name: facts.abstains.startswith("yes")
        for name, facts in methods_facts().items()
        if not is_language_model(name)
    }
    assert {name: abstained[name] for name in declared} == declared


def test_a_method_that_is_made_in_view_says_so_and_no_other_does():
    said = {name for name, facts in methods_facts().items() if "made in view" in facts.learnt_from}
    in_view = {name for name, entry in ENTRIES.items() if entry.made_in_view}
    assert said | {"invariants_abstaining"} == in_view  # which refers to the row of invariants


@pytest.mark.parametrize(
    ("model", "text", "words"),
    [
        (MethodFacts, "method,learnt_from,abstains\nebm,folds,no\n", "readable"),
        (MethodFacts, "method,learnt_from,abstains,readable\nebm,,no,terms\n", "learnt_from"),
        (
            CategoryTransfer,
            (
                "category,ssm,cnn,cnn_table_7,vit,stability,reason\n"
                "optimization,low,high,medium,complete,moderate,why\n"
            ),
            "ssm",
        ),
    ],
)
def test_a_broken_row_is_one_sentence_that_names_file_row_and_column(model, text, words):
    with pytest.raises(BadInputError, match=rf"a\.csv, row 1: {words}: .*Correct it"):
        parsed(model, "a.csv", text)


def test_every_method_has_a_box_of_the_workflow_or_is_left_out():
    declared = workflow()
    drawn = [method for box in declared.boxes for method in box.methods]
    assert sorted([*drawn, *declared.left_out]) == sorted(ENTRIES)


def test_every_source_of_a_drawn_method_reaches_its_box_but_the_true_category():
    declared = workflow()
    joined = set(arrows(declared))
    for box in declared.boxes:
        reaching = {
            source
            for other in declared.boxes
            if (other.id, box.id) in joined
            for source in other.sources
        }
        for method in box.methods:
            assert ENTRIES[method].reads - {"true category"} <= reaching, method
