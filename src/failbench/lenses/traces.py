"""Traces: answers that models generated to problems of known difficulty, one row an answer.

``docs/traces.md`` describes the format, which is read from parquet, CSV and JSON lines.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import polars as pl

from failbench.errors import BadInputError

CORRECT: Final = "correct"
WRONG: Final = "wrong"
TRUNCATED: Final = "truncated"
OUTCOMES: Final = (CORRECT, WRONG, TRUNCATED)

_LISTS: Final = pl.List(pl.Int64)

_COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "model": pl.String,
    "condition": pl.String,
    "seed": pl.Int64,
    "tokenizer": pl.String,
    "task": pl.String,
    "length": pl.Int64,
    "depth": pl.Int64,
    "item": pl.Int64,
    "prompt_ids": _LISTS,
    "text": pl.String,
    "tokens": pl.Int64,
    "outcome": pl.String,
    "guess": pl.Float64,
}

TRACE_SCHEMA: Final = pl.Schema(_COLUMNS)

KEY: Final = ("model", "task", "length", "depth", "item")

MAY_BE_NULL: Final = ("condition", "seed")
"""What is not known of every model."""

FORMAT: Final = "docs/traces.md describes the format."


def read_traces(path: Path) -> pl.DataFrame:
    """Read a file of traces and refuse what does not keep to the format.

    Parameters
    ----------
    path
        Ends with ``.parquet``, ``.csv``, ``.jsonl`` or ``.ndjson``; in CSV, ids of a prompt are a
        cell of JSON.

    Returns
    -------
    pl.DataFrame
        The columns of ``TRACE_SCHEMA``, sorted by ``KEY``; others are dropped.

    Raises
    ------
    BadInputError
        If it cannot be read, has no rows, lacks a column, or a value is missing, of another type,
        or out of its range; the first fault is named with its row.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise BadInputError(
            path,
            "(file)",
            f"ends with {path.suffix!r}, which is no format of traces.",
            f"Name a file that ends with {', '.join(_READERS)}.",
        )
    try:
        raw = reader(path)
    except FileNotFoundError as error:
        problem = "does not exist."
        raise BadInputError(path, "(file)", problem, "Name a file of traces.") from error
    except (OSError, pl.exceptions.PolarsError) as error:
        words = " ".join(str(error).split())[:200]
        problem = f"cannot be read as {path.suffix[1:].lower()} ({words})."
        raise BadInputError(path, "(file)", problem, FORMAT) from error
    return checked(raw, path)


def checked(raw: pl.DataFrame, path: object) -> pl.DataFrame:
    """A table with the columns, types and values of the format; see :func:`read_traces`."""
    for name in TRACE_SCHEMA.names():
        if name not in raw.columns and name not in MAY_BE_NULL:
            raise BadInputError(path, name, "the column is missing.", FORMAT)
    if raw.is_empty():
        raise BadInputError(path, "(rows)", "there are none.", "Name a file with traces in it.")
    columns = {name: _typed(raw, name, path) for name in TRACE_SCHEMA.names()}
    traces = pl.DataFrame(columns)
    for name in TRACE_SCHEMA.names():
        if name not in MAY_BE_NULL:
            _refuse(traces, pl.col(name).is_null(), name, "the value is missing", path)
    outcomes = ", ".join(OUTCOMES)
    faults = {
        "outcome": (~pl.col("outcome").is_in(OUTCOMES), f"is none of {outcomes}"),
        "tokens": (pl.col("tokens") < 0, "is negative"),
        "length": (pl.col("length") < 1, "is not positive"),
        "guess": (~pl.col("guess").is_between(0, 1, closed="left"), "is not from 0 to below 1"),
        "prompt_ids": (pl.col("prompt_ids").list.len() == 0, "is empty"),
    }
    for name, (fault, problem) in faults.items():
        _refuse(traces, fault, name, problem, path)
    has_null = pl.col("prompt_ids").list.eval(pl.element().is_null()).list.any()
    _refuse(traces, has_null, "prompt_ids", "has an id that is no whole number", path)
    _refuse(traces, pl.struct(KEY).is_duplicated(), ", ".join(KEY), "is not the only one", path)
    return traces.sort(KEY)


def _csv(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def _parquet(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path, glob=False)


def _json_lines(path: Path) -> pl.DataFrame:
    return pl.read_ndjson(path, infer_schema_length=None)


_READERS: Final[dict[str, Callable[[Path], pl.DataFrame]]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}


def _typed(raw: pl.DataFrame, name: str, path: object) -> pl.Series:
    """A column in its type; a value that is not of it is an error with its row."""
    dtype = TRACE_SCHEMA[name]
    if name not in raw.columns:
        return pl.Series(name, [None] * raw.height, dtype)
    column = raw[name]
    if name == "text" and column.dtype == pl.String:
        return column.fill_null("")  # CSV does not tell an empty text from none
    try:
        if dtype == _LISTS and column.dtype == pl.String:
            return column.str.json_decode(dtype).alias(name)
        typed = column.cast(dtype, strict=False)
    except pl.exceptions.PolarsError as error:
        problem = f"holds what is no {_words(dtype)}."
        raise BadInputError(path, name, problem, FORMAT) from error
    lost = typed.is_null() & column.is_not_null()
    if dtype == pl.Int64 and column.dtype.is_float():
        lost |= (typed.cast(pl.Float64) != column).fill_null(value=False)
    if lost.any():
        row = int(lost.arg_max() or 0)
        problem = f"row {row + 1}: {column[row]!r} is no {_words(dtype)}."
        raise BadInputError(path, name, problem, FORMAT)
    return typed


def _words(dtype: pl.DataType) -> str:
    names = {pl.Int64: "whole number", pl.Float64: "number", pl.String: "text"}
    return next((word for kind, word in names.items() if dtype == kind), "list of whole numbers")


def _refuse(traces: pl.DataFrame, fault: pl.Expr, name: str, problem: str, path: object) -> None:
    at = traces.select(fault.fill_null(value=False).alias("fault"))["fault"]
    if at.any():
        row = int(at.arg_max() or 0)
        value = "" if name not in traces.columns or traces[name][row] is None else traces[name][row]
        shown = f"{value!r} " if isinstance(value, str | int | float) and value != "" else ""
        raise BadInputError(path, name, f"row {row + 1}: {shown}{problem}.", FORMAT)
