"""The study on made-up models with planted conditions, and what it refuses."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.reasoning_lenses.expected import Expected, read_expected
from failbench.studies.reasoning_lenses.models import check_traces
from failbench.studies.reasoning_lenses.report import report
from failbench.studies.reasoning_lenses.settings import Pictured, ReasoningLensesSettings
from made_up_traces import made_up_study

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


def test_expected_verdicts_are_scored_against_what_was_given(shown):
    rates = shown.metrics["verdicts_as_expected"]
    assert rates["compression"]["value"] == 1.0
    assert rates["telling"]["n"] == 9
    assert rates["silent"]["n"] == 6


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
