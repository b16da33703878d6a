"""Answers of preflights are read as they were written, and broken files are refused."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.preflight.records.answers import ANSWER_SCHEMA, read_answers


def row(**values):
    empty = {
        name: [] if isinstance(kind, pl.List) else None for name, kind in ANSWER_SCHEMA.items()
    }
    return {**empty, "run_id": "a", "look": "start", **values}


@pytest.mark.parametrize("content", [None, b"", b"\x93 no table"])
def test_a_missing_or_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "answers.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"answers\.parquet"):
        read_answers(path)


def test_a_table_without_rows_or_a_column_is_refused(tmp_path):
    path = tmp_path / "answers.parquet"
    ANSWER_SCHEMA.to_frame().write_parquet(path)
    with pytest.raises(BadInputError, match="the table has none"):
        read_answers(path)
    pl.DataFrame([row()], schema=ANSWER_SCHEMA).drop("causes").write_parquet(path)
    with pytest.raises(BadInputError, match="causes"):
        read_answers(path)
