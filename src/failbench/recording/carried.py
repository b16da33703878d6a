"""Carried fingerprints: written into the table of runs, with what was compared beside it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.telemetry import RUN_SCHEMA, read_table, write_parquet
from failbench.recording.carrying import Candidate, Repeated

CARRIED = "carried.csv"
"""File in a folder of telemetry that says which runs were compared."""
CARRIED_SCHEMA = pl.Schema(
    {
        "run_id": pl.String,
        "fingerprint_after": pl.String,
        "fingerprint_before": pl.String,
        "setting": pl.String,
        "kind": pl.String,
        "ending": pl.String,
        "steps_compared": pl.Int32,
        "length_difference": pl.Int32,  # steps that the new recording is longer
        "same_message": pl.Boolean,  # null without an error
        "same_traceback": pl.Boolean,  # but for numbers of lines
        "candidates": pl.Int32,  # of which the sample was drawn; all have new fingerprints
        "seed": pl.Int64,  # of the draw
    }
)
_KEY = ("run_id", "fingerprint_after")


def carry_over(
    folder: Path, outdated: Sequence[Candidate], repeated: Sequence[Repeated], seed: int
) -> None:
    """Write the fingerprints of today into the table of runs, and what was compared beside it.

    What was compared is written first: without it nobody could tell why fingerprints changed.
    Runs whose fingerprints have changed since they were read keep them.
    """
    path = folder / CARRIED
    rows = pl.concat([read_carried(path), carried_rows(repeated, len(outdated), seed)])
    content = rows.unique(_KEY, keep="last", maintain_order=True).write_csv()
    remedy = "Free space and carry over again; the recordings are unchanged."
    write_atomically(path, content.encode(), remedy)
    runs_path = folder / "runs.parquet"
    write_parquet(with_fingerprints(read_table(runs_path, RUN_SCHEMA), outdated), runs_path)


def carried_rows(repeated: Sequence[Repeated], candidates: int, seed: int) -> pl.DataFrame:
    """A row for each run of a sample, of the columns of :data:`CARRIED_SCHEMA`."""
    rows = [
        {
            "run_id": each.candidate.run_id,
            "fingerprint_after": each.candidate.fingerprint,
            "fingerprint_before": each.candidate.stored["fingerprint"],
            "setting": each.candidate.setting.name,
            "kind": each.candidate.planned.kind,
            "ending": each.candidate.stored["ending"],
            "steps_compared": each.comparison.steps_compared,
            "length_difference": each.comparison.length_difference,
            "same_message": each.comparison.same_message,
            "same_traceback": each.comparison.same_traceback,
            "candidates": candidates,
            "seed": seed,
        }
        for each in repeated
    ]
    return pl.DataFrame(rows, schema=CARRIED_SCHEMA)


def read_carried(path: Path) -> pl.DataFrame:
    """What was compared before; no rows where there is no file."""
    if not path.exists():
        return CARRIED_SCHEMA.to_frame()
    try:
        header = pl.read_csv(io.BytesIO(path.read_bytes()), n_rows=0).columns
        if header != CARRIED_SCHEMA.names():
            raise BadInputError(
                path,
                "(header)",
                "has other columns than those of a table of compared runs.",
                "Restore it from the last commit.",
            )
        return pl.read_csv(io.BytesIO(path.read_bytes()), schema=CARRIED_SCHEMA)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInputError(
            path, "(file)", f"is no readable table ({error}).", "Restore it from the last commit."
        ) from error


def with_fingerprints(runs: pl.DataFrame, outdated: Sequence[Candidate]) -> pl.DataFrame:
    """The table of runs with the fingerprints of today for the candidates, else unchanged."""
    today = pl.DataFrame(
        [(each.run_id, each.stored["fingerprint"], each.fingerprint) for each in outdated],
        schema={"run_id": pl.String, "fingerprint": pl.String, "today": pl.String},
        orient="row",
    )
    joined = runs.join(
        today, on=["run_id", "fingerprint"], how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.with_columns(pl.coalesce("today", "fingerprint").alias("fingerprint")).drop(
        "today"
    )
