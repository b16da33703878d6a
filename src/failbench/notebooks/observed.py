"""What was observed of the notebooks in live kernels: ``data/notebooks/observed.parquet``."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.replay import AnswerTable

OBSERVED: Final = "observed.parquet"  # the file in the folder of the corpus
REMEDY: Final = "Restore it with git, or run `make record-notebooks`."
KEY: Final = ("pair", "version")

SCHEMA: Final = pl.Schema(
    {
        "pair": pl.String,
        "version": pl.String,  # "crashing" or "mended"
        "library": pl.String,
        "notebook_sha256": pl.String,  # of the file that was executed
        "crash": pl.Boolean,  # of the target; no cell before it may
        # of the crash, null where there is none
        "ename": pl.String,
        "evalue": pl.String,  # the first 2,000 characters
        "line": pl.Int32,  # of the target, counted from 1
        "source_line": pl.String,
        "functions": pl.Int32,  # of the notebook that the crash passed through
        # the state of the kernel after the cells before the target, and before it
        "summary": pl.String,  # JSON
        "seconds": pl.Float64,  # of the target
        "seconds_before": pl.Float64,  # of the cells before it
        "versions": pl.String,  # JSON: Python and each library
        "recorder": pl.String,  # sha256 of the modules that make the summary
    }
)

OBSERVED_TABLE: Final = AnswerTable(
    SCHEMA, KEY, ("pair",), ("notebook_sha256", "recorder", "versions"), REMEDY
)


def code_of_summary() -> str:
    """A hash of the modules that make the summary and name what is relevant."""
    here = Path(__file__).parent
    files = [*sorted((here / "summary").glob("*.py")), here / "relevant.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def read_observed(path: Path) -> pl.DataFrame:
    """Read the table, sorted by pair and version."""
    table = OBSERVED_TABLE.read(path)
    versions = table.group_by("pair").agg(pl.col("version").sort())
    alone = versions.filter(pl.col("version") != ["crashing", "mended"])
    if alone.height:
        problem = f"{alone['pair'].sort()[0]!r} does not have both versions."
        raise BadInputError(path, "version", problem, REMEDY)
    of_crash = ("ename", "evalue", "line", "source_line", "functions")
    for name in SCHEMA:
        needed = table.filter(pl.col("crash")) if name in of_crash else table
        if needed[name].is_null().any():
            raise BadInputError(path, name, "a value is absent.", REMEDY)
    return table
