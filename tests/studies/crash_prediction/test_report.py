"""The report: answers are to the committed questions, and its sentence has the table's numbers."""

from __future__ import annotations

import polars as pl
import pytest
from matplotlib.figure import Figure

from failbench.crashes.question import ARMS
from failbench.errors import BadInputError
from failbench.reporting.cells import percent
from failbench.studies.crash_prediction.collected import collect
from failbench.studies.crash_prediction.published import read_published
from failbench.studies.crash_prediction.report import report
from failbench.studies.crash_prediction.settings import (
    COMBINED,
    DRY_RUN,
    LENGTH,
    MAJORITY,
    RULES,
)
from failbench.studies.crash_prediction.tables import cells_of


@pytest.fixture(scope="module")
def published(repository):
    return read_published(repository / "data/reported/crane_llm.csv")


@pytest.fixture(scope="module")
def shown(rows, cases, published, models, settings):
    quick = settings.model_copy(update={"resamples": 1000})
    return report(rows, cases, published, models, quick)


@pytest.fixture(scope="module")
def cells(shown):
    return cells_of(shown.points["crash_prediction"])


def test_the_majority_is_right_about_a_half(cells):
    assert cells[MAJORITY, "code", "accuracy"]["value"] == 0.5


def test_the_dry_run_gives_way_to_the_rules_where_it_cannot_say(answers):
    for arm in ARMS[1:]:
        for run, rule, joined in zip(
            *(answers[name, arm] for name in (DRY_RUN, RULES, COMBINED)), strict=True
        ):
            assert joined == (rule if run.crash is None else run)
    assert answers[COMBINED, "code"] == answers[RULES, "code"]


def test_the_threshold_of_the_length_is_learnt_from_development_alone(cases, answers, recorded):
    """Without any test notebook the threshold is the same."""
    (reason,) = {answer.reason for answer in answers[LENGTH, "code"]}
    assert "development" in reason
    development = [case for case in cases if case.part == "development"]
    again = collect(development, recorded, "answers")
    assert {answer.reason for answer in again[LENGTH, "code"]} == {reason}


def test_an_answer_to_another_question_is_refused(cases, recorded, place):
    changed = recorded.with_columns(
        asked=pl.when(predictor="pylint").then(pl.lit("0" * 64)).otherwise("asked")
    )
    with pytest.raises(BadInputError, match="pylint has no answer"):
        collect(cases, changed, place)


def test_the_sentence_and_the_title_have_the_numbers_of_the_table(shown, cells):
    (sentence,) = shown.sentences.values()
    assert sentence.count("\n") == 1
    title = shown.figures["crash_prediction"].title
    for predictor, arm in ((RULES, "code"), (RULES, "all"), (COMBINED, "all"), (COMBINED, "other")):
        assert f"{percent(cells[predictor, arm, 'accuracy']['value'])} [" in sentence
    for arm in ("all", "code"):
        assert f"{percent(cells[COMBINED, arm, 'accuracy']['value'])} %" in title


def test_a_table_has_a_row_for_each_predictor_and_arm(shown, rows):
    table = shown.tables[0]
    assert len(table.rows) == rows.select("predictor", "arm").unique().height
    assert any("Not available: Mistral 7B and Llama 3 8B" in note for note in table.notes)


def test_language_models_without_answers_are_not_available(shown):
    models = shown.metrics["language_models"]
    assert {each["available"] for each in models.values()} == {False}
    assert {each["answered"] for each in models.values()} == {0}


def test_tables_by_group_have_every_test_pair_once(shown, rows):
    pairs = rows.filter(part="test")["pair"].n_unique()
    by_name = {table.name: table for table in shown.tables}
    for name in ("library", "misuse", "difficulty"):
        table = by_name[f"crash_prediction_{name}"]
        assert sum(int(row[1]) for row in table.rows) == pairs


@pytest.mark.usefixtures("project_style")
def test_the_figure_has_a_row_for_each_arm(shown):
    figure = shown.figures["crash_prediction"].figure()
    assert isinstance(figure, Figure)
    left, right = figure.axes
    assert len(left.get_yticks()) == len(ARMS)
    assert left.get_title(loc="left") == "what they reach"
    assert right.get_title(loc="left") == "what information adds"
