"""Files of traces are read from three formats alike, and broken ones are refused."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.reasoning import traces
from failbench.reasoning.grading import outcome
from failbench.reasoning.problems import Problem
from failbench.reasoning.traces import KEY, TRACE_SCHEMA, read_traces, write_traces

ROW = {
    "model": "healthy-char-1",
    "condition": "healthy",
    "seed": 1,
    "tokenizer": "char",
    "task": "paths",
    "length": 4,
    "depth": 1,
    "item": 0,
    "prompt_ids": [5, 7, 7],
    "text": 'a1K:"K',
    "tokens": 6,
    "outcome": "correct",
    "guess": 0.25,
}
ROWS = [ROW | {"item": 1, "condition": None, "seed": None, "prompt_ids": []}, ROW]
PROBLEM = Problem("aK?a1>", ("a1K",), ",", "K", 1.0)


def frame(rows):
    return pl.DataFrame(rows, schema=TRACE_SCHEMA)


def written(rows, path):
    if path.suffix == ".parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        as_text = [row | {"prompt_ids": json.dumps(row["prompt_ids"])} for row in rows]
        pl.DataFrame(as_text, infer_schema_length=None).write_csv(path)
    return path


SUFFIXES = (".parquet", ".jsonl", ".csv")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_is_read_alike_from_every_format_and_sorted_by_key(tmp_path, suffix):
    read = read_traces(written(ROWS, tmp_path / f"traces{suffix}"))
    assert read.schema == TRACE_SCHEMA
    assert read.equals(frame(ROWS).sort(KEY))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"outcome": "right"}, "outcome"),
        ({"guess": 1.5}, "guess"),
        ({"tokens": -1}, "tokens"),
        ({"task": None}, "task"),
        ({"length": "long"}, "length"),
        ({"colour": "red"}, "colour"),
        ({"item": 1}, "(key)"),
        ({"without": "tokens"}, "tokens"),
    ],
)
def test_a_broken_file_is_refused_in_every_format(tmp_path, suffix, change, field):
    rows = [ROW | {"item": 1}, ROW | change]
    if "colour" in change or "length" in change:
        rows = [row | change for row in rows]
    if "without" in change:
        rows = [{name: value for name, value in ROW.items() if name != change["without"]}]
    with pytest.raises(BadInputError) as error:
        read_traces(written(rows, tmp_path / f"traces{suffix}"))
    assert error.value.field == field


@pytest.mark.parametrize("name", ["no.parquet", "no.jsonl", "no.csv", "traces.txt"])
def test_a_file_that_is_not_there_or_of_no_format_is_refused(tmp_path, name):
    with pytest.raises(BadInputError, match=r"(?i)missing or unreadable|no format"):
        read_traces(tmp_path / name)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[1, 2]\n", b"{\n"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_something_else_is_refused(tmp_path, suffix, content):
    path = tmp_path / f"traces{suffix}"
    path.write_bytes(content)
    with pytest.raises(BadInputError):
        read_traces(path)


def test_what_is_written_is_read_back_and_broken_traces_do_not_replace_it(tmp_path):
    path = tmp_path / "traces.parquet"
    write_traces(frame(ROWS), path)
    with pytest.raises(BadInputError):
        write_traces(frame([ROW, ROW]), path)
    assert read_traces(path).equals(frame(ROWS).sort(KEY))


@pytest.mark.parametrize(
    ("text", "is_ended", "expected"),
    [
        ("a1K:K", True, "correct"),
        ("nonsense:K", True, "correct"),  # the scratchpad is not graded
        ("a1K:L", True, "wrong"),
        ("a1K:KK", True, "wrong"),
        ("K", True, "wrong"),  # no answer is marked
        ("", True, "wrong"),
        ("a1K:K", False, "truncated"),
        ("a1K,a1K,a1K", False, "truncated"),
    ],
)
def test_grading(text, is_ended, expected):
    assert outcome(PROBLEM, text, is_ended=is_ended) == expected


def test_what_reads_traces_and_declarations_needs_no_torch():
    """The stages of the pipeline read traces, and run without it."""
    package = Path(traces.__file__).parent
    with_torch = {
        path.stem
        for path in package.glob("*.py")
        if re.search(r"^(import|from) torch", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    needing = {
        path.stem
        for path in package.glob("*.py")
        if re.search(
            rf"failbench\.reasoning\.({'|'.join(with_torch)}) import", path.read_text("utf-8")
        )
    }
    assert with_torch | needing == {"model", "recorder", "sampling", "training"}
