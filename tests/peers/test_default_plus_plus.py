"""The tool that is called inside a training: its answers, replayed, and what its table may hold."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.neighbours.peers.default_plus_plus import (
    ANSWER_SCHEMA,
    INSIDE,
    PACKAGE,
    PEER,
    read_inside_answers,
    verdicts_of,
)
from failbench.neighbours.peers.mapping import issues_of, mapping, standards
from failbench.neighbours.peers.verdicts import VERDICT_TABLE, recorded_answers

DATA = Path(__file__).parents[2] / "data"
TABLE = DATA / "peers/default_plus_plus.parquet"
NAMES = {
    *("embedding", "ffn", "kernel", "kv_cache", "layernorm", "masking", "decoder_masking"),
    *("output", "positional", "qkv", "residual", "score", "variant"),
}
"""Categories of the shipped models: the twelve of its paper, whose masking the one for decoders
divides in two."""
UNSTABLE = {"learning_rate_too_high", "initial_weights_too_large"}
"""Scenarios whose losses amplify rounding from the first steps on."""
INSTALLED = find_spec(PACKAGE) is not None


@cache
def committed() -> pl.DataFrame:
    return read_inside_answers(TABLE)


def row(run_id: str = "run", **columns: object) -> dict[str, object]:
    answer = {
        "is_faulty": True,
        "detection_probability": 0.9,
        "category": "qkv",
        "version": "0.4.1",
        "rendering": "0",
        "recorded_ending": "completed",
        "groups": ["attention"],
        "importances": [1.0],
    }
    return {**dict.fromkeys(ANSWER_SCHEMA), "run_id": run_id, **answer, **columns}


def table(*rows: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=ANSWER_SCHEMA)


def test_every_category_of_its_models_is_mapped_and_no_other():
    assert issues_of(PEER) == NAMES
    assert {mapping()[PEER, name].category for name in NAMES} == {"model_software"}


@pytest.mark.skipif(not INSTALLED, reason="needs the peer")
def test_the_categories_are_those_of_the_shipped_models():
    from defaultplusplus.diagnosis import load_pretrained

    shipped = {
        name for family in ("encoder", "decoder") for name in _names(load_pretrained(family))
    }
    assert shipped == NAMES


def _names(predictor):
    return predictor.category_names


def test_the_committed_verdicts_are_what_the_committed_answers_come_to():
    replayed = verdicts_of(committed())
    assert_frame_equal(
        VERDICT_TABLE.read(DATA / "peers/default_plus_plus_verdicts.parquet"), replayed
    )


def test_every_committed_answer_is_of_the_version_that_is_compared_with():
    assert set(committed()["version"]) == {standards()[PEER].version}


def test_the_extractor_of_the_compared_version_ends_every_training_of_a_bert():
    of_bert = committed().filter(
        pl.col("run_id").str.contains("-bert-"), pl.col("recorded_ending") == "completed"
    )
    assert of_bert.height
    assert set(of_bert["ending"]) == {"exception"}
    assert all("size of tensor a" in reason for reason in of_bert["unreadable"])


def test_watched_runs_are_trainings_of_the_runs_that_were_recorded():
    watched = committed().filter(pl.col("ending") == "completed", pl.col("unreadable").is_null())
    apart = watched.filter(pl.col("loss_apart") > 1e-6)["run_id"].str.split("-").list.first()
    assert watched.height == 112
    assert set(apart) == UNSTABLE


def test_a_detection_is_an_issue_with_its_probability_and_its_category_mapped():
    verdicts = verdicts_of(table(row(), row("other", is_faulty=False, category=None)))
    assert verdicts["issues"].to_list() == [[], ["qkv"]]
    assert verdicts["format"].unique().to_list() == [INSIDE]
    answers = recorded_answers(verdicts)
    assert answers["detected"].to_list() == [False, True]
    assert answers["prediction"].to_list() == ["abstain", "model_software"]


def test_a_run_without_an_answer_is_not_readable_and_detects_nothing():
    verdicts = verdicts_of(table(row(is_faulty=None, category=None, unreadable="It ended.")))
    answers = recorded_answers(verdicts)
    assert answers.row(0, named=True)["readable"] is False
    assert answers.row(0, named=True)["detected"] is False


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([row(), row()], "run_id: 'run' has two answers"),
        ([row(category="weather")], "category: 'run' has a category that is not mapped"),
        ([row(category=None)], "category: 'run' is faulty without a category"),
        ([row(is_faulty=False)], "category: 'run' is faulty without a category, or has one"),
        ([row(unreadable="It ended.")], "unreadable: 'run' needs either"),
        ([row(is_faulty=None, category=None)], "unreadable: 'run' needs either"),
    ],
)
def test_a_broken_table_gives_one_clear_error(tmp_path, rows, field):
    path = tmp_path / "answers.parquet"
    table(*rows).write_parquet(path)
    with pytest.raises(BadInputError, match=field):
        read_inside_answers(path)
