"""Preflight: when a crash counts as foreseen, and the margin through healthy runs."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.scenarios import read_scenarios
from failbench.base.slices import ReferenceStudy
from failbench.base.telemetry import read_telemetry
from failbench.preflight.memory import margin
from failbench.preflight.records.answers import ANSWER_SCHEMA, read_answers
from failbench.statistics.settings import read_with_statistics
from preflight import PreflightSettings, healthy_answers, judged, looks_of, margin_line, numbers

INDEX = ("crash", "token_ids_beyond_table", "IndexError: index out of range in self")
TARGET = ("crash", "label_outside_classes", "IndexError: Target 600")
SHAPES = ("crash", "shapes_mismatch", "RuntimeError: no")


@pytest.fixture(scope="module")
def inputs(repository):
    return (
        read_answers(repository / "data/preflight/answers.parquet"),
        read_telemetry(repository / "data/telemetry"),
        read_scenarios(repository / "data/scenarios"),
        read_section("nested_cv", ReferenceStudy, repository / "params.yaml"),
    )


def look(*said, **changes):
    """One look at a failing run of ``added_tokens``, with findings as severity, cause and error."""
    severities, causes, errors = ([each[place] for each in said] for place in range(3))
    known = {
        "scenario": "added_tokens",
        "run": "failing",
        "category": "data_pipeline",
        "cause": "token_ids_beyond_table",
        "ending": "exception",
        "raised": "IndexError",
        "error_message": "index out of range in self",
        "severities": severities,
        "causes": causes,
        "errors": errors,
    }
    lists = dict.fromkeys(("severities", "causes", "errors"), pl.List(pl.String))
    return judged(pl.DataFrame([known | changes], schema_overrides=lists)).row(0, named=True)


LOOKS = {
    "foreseen": ([INDEX], "failing", (True, True, True, True)),
    "nothing said": ([], "failing", (False, False, False, False)),
    "said of the twin": ([INDEX], "twin", (True, False, False, False)),
    "the first alone": ([TARGET, INDEX], "failing", (True, True, False, False)),
    "the first is wrong": ([SHAPES, INDEX], "failing", (True, False, False, False)),
}


@pytest.mark.parametrize(("said", "run", "counted"), LOOKS.values(), ids=LOOKS)
def test_the_first_crash_that_is_foreseen_counts_with_category_cause_and_text(said, run, counted):
    names = ("foreseen", "right_category", "right_cause", "right_text")
    row = look(*said, run=run)
    assert tuple(row[name] for name in names) == counted


def test_a_warning_foresees_no_crash_and_refused_memory_is_a_kind_whatever_raises_it():
    row = look(("warning", "token_ids_beyond_table", ""), ("note", "labels_wrong", ""))
    assert (row["foreseen"], row["said"], row["worst"]) == (False, True, "warning")
    assert row["all_causes"] == ["token_ids_beyond_table"]
    refused = look(raised="OSError", error_message="[Errno 12] Cannot allocate memory")
    assert (refused["kind"], look()["kind"]) == ("out of memory", "IndexError")


def test_a_run_may_end_sooner_or_later_than_it_was_recorded(inputs):
    looks = pl.DataFrame(
        {
            "look": ["failure"] * 4,
            "crashes": [True] * 4,
            "begins": ["mid_run"] * 4,
            "reached": [False, False, True, True],  # the first, as reading fails in it
            "step": [130] * 4,
            "failure_step": [130] * 4,
            "compared_steps": [130, 120, 130, 130],
            "error_type": ["OSError", "OSError", None, "OSError"],
        }
    )
    found = numbers(looks, inputs[0], inputs[1].runs)
    assert (found["sooner"], found["later"]) == (1, 1)


def test_looks_are_at_every_scenario_and_the_margin_is_the_line_through_healthy_runs(
    inputs, repository
):
    looks = looks_of(*inputs)
    assert set(looks["scenario"]) == {each.id for each in inputs[2]}
    with pytest.raises(BadInputError, match="has no answer"):
        looks_of(ANSWER_SCHEMA.to_frame(), *inputs[1:])
    answers, recorded, _, reference = inputs
    settings = read_with_statistics("preflight", PreflightSettings, repository / "params.yaml")
    healthy = healthy_answers(answers, recorded, reference)
    factor, added = margin_line(healthy, settings.quantile)
    assert (margin().factor, margin().runs) == (pytest.approx(factor), healthy.height)
    assert margin().bytes == pytest.approx(added, abs=2**10)
