from importlib.util import find_spec

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.neighbours.peers.default_plus_plus import (
    ANSWER_SCHEMA,
    INSIDE,
    PACKAGE,
    PEER,
    read_inside_answers,
    verdicts_of,
)
from failbench.neighbours.peers.mapping import issues_of, mapping
from failbench.neighbours.peers.verdicts import recorded_answers

NAMES = {
    *("embedding", "ffn", "kernel", "kv_cache", "layernorm", "masking", "decoder_masking"),
    *("output", "positional", "qkv", "residual", "score", "variant"),
}
"""Categories of the shipped models: the twelve of its paper, whose masking the one for decoders
divides in two."""


def row(run_id: str = "run", **columns: object) -> dict[str, object]:
    answer = {"is_faulty": True, "detection_probability": 0.9, "category": "qkv"}
    answer |= {"version": "0.4.1", "rendering": "0", "recorded_ending": "completed"}
    answer |= {"groups": ["attention"], "importances": [1.0]}
    return {**dict.fromkeys(ANSWER_SCHEMA), "run_id": run_id, **answer, **columns}


def table(*rows: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=ANSWER_SCHEMA)


def test_every_category_of_its_models_is_mapped_and_no_other():
    assert issues_of(PEER) == NAMES
    assert {mapping()[PEER, name].category for name in NAMES} == {"model_software"}
    if find_spec(PACKAGE):
        from defaultplusplus.diagnosis import load_pretrained

        shipped = [load_pretrained(family).category_names for family in ("encoder", "decoder")]
        assert {name for names in shipped for name in names} == NAMES


def test_an_answer_is_a_verdict_with_its_category_mapped_and_none_is_not_readable():
    no_answer = row("third", is_faulty=None, category=None, unreadable="It ended.")
    made = table(row("first"), row("second", is_faulty=False, category=None), no_answer)
    answers = recorded_answers(verdicts_of(made))
    assert answers["issues"].to_list() == [["qkv"], [], []]
    assert answers["format"].unique().to_list() == [INSIDE]
    assert answers["detected"].to_list() == [True, False, False]
    assert answers["prediction"].to_list() == ["model_software", "abstain", "abstain"]
    assert answers["readable"].to_list() == [True, True, False]


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
