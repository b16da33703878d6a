"""The study on made-up models with planted conditions, and what it refuses."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.lenses.catalogue import LENSES
from failbench.studies.reasoning_lenses.expected import Expected, read_expected
from failbench.studies.reasoning_lenses.models import check_traces
from failbench.studies.reasoning_lenses.report import report
from failbench.studies.reasoning_lenses.results import SETS
from failbench.studies.reasoning_lenses.settings import Pictured, ReasoningLensesSettings
from made_up_traces import CONDITIONS, made_up_study
from pipeline import REPOSITORY

SETTINGS = ReasoningLensesSettings(
    answer_resamples=100,
    healthy="healthy",
    trees=10,
    pictured=Pictured(task="arithmetic", seed=0, tokenizer="char", conditions=("short", "loops")),
    confidence=0.95,
    seed=0,
)
EXPECTED = tuple(
    Expected(condition=condition, lens=lens, verdicts=verdicts, telling=telling, why="planted so")
    for condition, lens, verdicts, telling in (
        ("healthy", "surface", "cliff gradual_decline", False),
        ("short", "surface", "cliff", True),
        ("loops", "compression", "loop", True),
        ("dull", "surface", "collapse chaotic", True),
    )
)
HEADER = "condition,lens,verdicts,telling,why\n"


@pytest.fixture(scope="module")
def traces():
    return made_up_study(tasks=("arithmetic",), items=8)


@pytest.fixture(scope="module")
def shown(traces):
    return report(traces, EXPECTED, SETTINGS)


def test_planted_conditions_are_named_by_the_lens_that_can_see_them(shown):
    named = shown.metrics["named"]
    assert named["all"]["nearest_centroid"]["value"] > 0.9
    assert named["surface"]["nearest_centroid"]["value"] > 0.9
    assert named["all"]["nearest_centroid"]["n"] == 15
    # prompts tell nothing of what was done: the most frequent condition is named
    assert named["fft"]["nearest_centroid"]["value"] == shown.metrics["majority"] == 6 / 15
    assert shown.metrics["chance"] == 1 / 4


def test_only_what_is_resampled_has_an_interval_of_resamples(shown):
    named = shown.metrics["named"]["all"]
    assert "resampled_low" in named["nearest_centroid"]
    assert "resampled_low" not in named["random_forest"]


def test_expected_verdicts_are_scored_against_what_was_given(shown):
    rates = shown.metrics["verdicts_as_expected"]
    assert rates["compression"]["value"] == 1.0
    assert rates["telling"]["n"] == 9
    assert rates["silent"]["n"] == 6


def test_tables_hold_every_condition_and_every_lens(shown):
    tables = {table.name: table for table in shown.tables}
    assert [row[0] for row in tables["reasoning_lenses"].rows] == [*LENSES, "all four"]
    for name in ("confusion", "verdicts", "course", "bytes"):
        assert len(tables[f"reasoning_lenses_{name}"].rows) == len(CONDITIONS)
    assert len(tables["reasoning_lenses_rules"].rows) == len(EXPECTED) + 1
    assert len(tables["reasoning_lenses_pairs"].rows) == len(CONDITIONS) - 1
    assert "15 small transformers" in tables["reasoning_lenses"].notes[0]


def test_points_have_their_keys_once(shown):
    keys = {
        "reasoning_lenses": ("model", "task", "lens", "measure"),
        "reasoning_lenses_verdicts": ("model", "task", "lens"),
        "reasoning_lenses_named": ("lenses", "model"),
        "reasoning_lenses_rates": ("lenses", "classifier"),
        "reasoning_lenses_curves": ("lens", "model", "series", "x"),
    }
    assert set(shown.points) == set(keys)
    for name, key in keys.items():
        points = shown.points[name]
        assert not points.select(key).is_duplicated().any(), name
    assert set(shown.points["reasoning_lenses_rates"]["lenses"]) == set(SETS)


def test_the_finding_names_the_share_and_its_chance(shown):
    text = shown.sentences["finding"]
    assert "of 15 models" in text
    assert "chance 25.0 %" in text


def test_figures_can_be_drawn(shown):
    for picture in shown.figures.values():
        assert picture.figure().axes


def without(traces, **values):
    (name, value) = next(iter(values.items()))
    return traces.filter(pl.col(name) != value)


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        (lambda t: t.with_columns(condition=pl.lit(None, pl.String)), "condition", "not known"),
        (lambda t: t.with_columns(seed=pl.lit(None, pl.Int32)), "seed", "not known"),
        (lambda t: t.filter(seed=0), "seed", "the same two seeds"),
        (lambda t: without(t, model="dull-char-0"), "seed", "the same two seeds"),
        (lambda t: without(t, condition="healthy"), "tokenizer", "no model of the tokenizer"),
        (lambda t: without(t, condition="dull"), "condition", "'dull': there is no model"),
        (lambda t: t.head(0), "(rows)", "there are none"),
        (
            lambda t: pl.concat([t, t.filter(model="dull-char-0").with_columns(task=pl.lit("b"))]),
            "task",
            "not all models have the same tasks",
        ),
    ],
)
def test_traces_that_do_not_fit_the_question_are_refused(traces, change, field, says):
    with pytest.raises(BadInputError) as raised:
        check_traces(change(traces), EXPECTED, "healthy")
    assert raised.value.field == field
    assert says in str(raised.value)


def test_a_picture_of_a_model_that_is_not_there_is_refused_before_anything_is_measured(traces):
    pictured = SETTINGS.pictured.model_copy(update={"conditions": ("mended",)})
    settings = SETTINGS.model_copy(update={"pictured": pictured})
    with pytest.raises(BadInputError, match=r"reasoning_lenses\.pictured"):
        report(traces, EXPECTED, settings)


def test_the_committed_expectations_can_be_read():
    expected = read_expected(REPOSITORY / "data/reasoning/expected_verdicts.csv")
    assert {each.lens for each in expected} == set(LENSES)


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        ("", "(rows)", "there are none"),
        (HEADER, "(rows)", "there are none"),
        (HEADER + "a,surface,cliff,maybe,because it is so\n", "telling", "bool"),
        (HEADER + "a,ear,cliff,true,because it is so\n", "lens", "fft"),
        (HEADER + "a,surface,slope,true,because it is so\n", "verdicts", "no verdict of surface"),
        (HEADER + 2 * "a,surface,cliff,true,because it is so\n", "condition", "is there twice"),
        ("condition,lens\na,surface\n", "verdicts", "required"),
        (HEADER + "a,surface,cliff,true,because it is so,more\n", "(more)", "unknown"),
    ],
)
def test_a_wrong_expectation_is_named(tmp_path, text, field, says):
    path = tmp_path / "expected.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as raised:
        read_expected(path)
    assert raised.value.field == field
    assert says in str(raised.value)
