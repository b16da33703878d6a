"""Shared by all stage scripts: parameters, earlier outputs, workers, and error handling."""

import json
import os
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS as PARAMS
from failbench.base.params import read_names as read_names
from failbench.base.params import read_section as read_section
from failbench.base.workers import available_workers

DECIMALS = 6

REMEDY = "Run `dvc repro` for the stage that writes it."


def read_output(
    path: Path, schema: pl.Schema, *, may_be_empty: bool = False, remedy: str = REMEDY
) -> pl.DataFrame:
    """Read the columns of ``schema`` from a parquet; others are dropped, as nothing checks them."""
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise unreadable(path, "parquet", remedy) from error
    return _checked(path, table, schema, remedy, may_be_empty=may_be_empty)


def read_outputs(
    folder: Path, names: Iterable[str], schema: pl.Schema, may_be_empty: Container[str] = ()
) -> pl.DataFrame:
    """Read the named files of one folder, and no leftovers of an earlier pipeline, as one table."""
    return pl.concat(
        read_output(folder / f"{name}.parquet", schema, may_be_empty=name in may_be_empty)
        for name in sorted(names)
    )


def read_points(
    path: Path, schema: pl.Schema, *, may_be_empty: bool = False, remedy: str = REMEDY
) -> pl.DataFrame:
    """Read the columns of ``schema`` from the CSV of points that an earlier stage wrote."""
    try:
        table = pl.read_csv(path, schema_overrides=schema, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise unreadable(path, "CSV", remedy) from error
    return _checked(path, table, schema, remedy, may_be_empty=may_be_empty)


def _checked(
    path: Path, table: pl.DataFrame, schema: pl.Schema, remedy: str, *, may_be_empty: bool = False
) -> pl.DataFrame:
    for name, dtype in schema.items():
        actual = table.schema.get(name)
        if actual != dtype:
            problem = "the column is missing." if actual is None else f"is {actual}, not {dtype}."
            raise BadInputError(path, name, problem, remedy)
    if table.is_empty() and not may_be_empty:
        raise BadInputError(path, "(rows)", "there are none.", remedy)
    return table.select(schema.names())


def unreadable(path: Path, form: str, remedy: str = REMEDY) -> BadInputError:
    """The error for an output of an earlier stage that is missing or of another format."""
    return BadInputError(path, "(file)", f"is missing or is not a {form} file.", remedy)


def workers() -> int:
    """Processes of a stage: ``FAILBENCH_WORKERS``, no parameter as no result depends on it."""
    value = os.environ.get("FAILBENCH_WORKERS")
    if value is None:
        return available_workers()
    if not value.isdecimal() or int(value) < 1:
        problem = f"{value!r} is not a positive whole number."
        remedy = "Unset it to use every processor."
        raise BadInputError("environment", "FAILBENCH_WORKERS", problem, remedy)
    return int(value)


def write_metrics(path: Path, metrics: Mapping[str, object]) -> None:
    """Write nested scalar metrics as JSON: sorted keys, numbers rounded to 6 decimals."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_rounded(metrics), indent=2, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _rounded(leaf) for key, leaf in value.items()}
    if isinstance(value, float):
        return round(float(value), DECIMALS)
    if isinstance(value, bool | int | str):
        return value
    raise TypeError(f"A metric must be a scalar, not {type(value).__name__}.")


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a short summary with aligned columns; numbers get three decimals."""
    lines = [list(header)] + [
        [f"{value:.3f}" if isinstance(value, float) else str(value) for value in row]
        for row in rows
    ]
    widths = [max(len(row[i]) for row in lines) for i in range(len(header))]
    for row in lines:
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        print(line.rstrip())


def print_accuracy(predictions: pl.DataFrame) -> None:
    """Print the accuracy of each study and feature set in a table of predictions."""
    summary = (
        predictions.group_by("study", "feature_set")
        .agg(
            pl.col("run_id").n_unique().alias("runs"),
            (pl.col("prediction") == pl.col("category")).mean().alias("accuracy"),
        )
        .sort("study", "feature_set")
    )
    print_table(("study", "features", "runs", "accuracy"), summary.rows())


def run(main: Callable[[], None]) -> None:
    """Run a stage; bad input ends it with one line on stderr and exit status 2."""
    try:
        main()
    except BadInputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
