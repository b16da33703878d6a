"""Telemetry: ``runs.parquet``, a row per ``run_id``, and ``steps/``, a row per run and step."""

# The step in which a run failed has a row too, with nulls for values that it did not reach.

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.scenarios import Scenario

Kind = Literal["failure", "twin", "success", "remedy"]
Ending = Literal["completed", "exception", "signal", "timeout"]

KINDS: tuple[Kind, ...] = get_args(Kind)

RUN_SCHEMA = pl.Schema(
    {
        "run_id": pl.String,
        "kind": pl.String,
        "scenario": pl.String,  # null for successful runs
        "twin_of": pl.String,  # of a twin or a remedy: the run_id of its failing run
        "architecture": pl.String,
        "optimizer": pl.String,
        "scale": pl.String,
        "device": pl.String,
        "seed": pl.Int32,
        "draw": pl.Int32,  # how often the configuration was drawn anew for an unhealthy twin
        # what happened
        "ending": pl.String,
        "outcome": pl.String,  # "completed" or one of scenarios.Outcome; the detector's word
        "onset_step": pl.Int32,  # null for twins and successful runs
        "failure_step": pl.Int32,  # the step snapshots are taken back from; the last one if healthy
        "steps": pl.Int32,  # rows in the steps table
        "error_type": pl.String,
        "error_message": pl.String,
        "error_traceback": pl.String,
        "exit_signal": pl.String,
        # the nominal configuration: drawn for all categories alike, never seen by features
        "nominal_batch_size": pl.Int32,
        "nominal_learning_rate": pl.Float64,
        "nominal_width": pl.Int32,
        "nominal_sequence_length": pl.Int32,
        "nominal_warmup_steps": pl.Int32,
        "nominal_clip_norm": pl.Float64,  # null when clipping is off
        "nominal_corpus_slice": pl.Int32,
        "planned_steps": pl.Int32,
        "capacity_multiple": pl.Float64,
        "distractor": pl.String,
        # the effective configuration, as the run logged it when its model was built
        "capacity_bytes": pl.Int64,
        "parameters": pl.Int64,
        "width": pl.Int32,
        "layers": pl.Int32,
        "heads": pl.Int32,
        "model_vocabulary": pl.Int32,
        "tokenizer_vocabulary": pl.Int32,
        "schedule": pl.String,
        # corpus statistics of the slice that was trained on
        "corpus_documents": pl.Int32,
        "corpus_tokens": pl.Int64,
        "corpus_distinct_tokens": pl.Int32,
        "corpus_unknown_rate": pl.Float64,
        "corpus_token_entropy": pl.Float64,  # nats, of the token frequencies
        # provenance
        "corpus_sha256": pl.String,
        "python_version": pl.String,
        "torch_version": pl.String,
        "transformers_version": pl.String,
        "tokenizers_version": pl.String,
        "fingerprint": pl.String,
        "wall_seconds": pl.Float64,
    }
)

STEP_SCHEMA = pl.Schema(
    {
        "run_id": pl.String,
        "step": pl.Int32,
        "loss": pl.Float32,  # training loss as the run logged it; null if never reached
        "gradient_norm": pl.Float32,  # before clipping
        "learning_rate": pl.Float64,
        "clip_norm": pl.Float32,  # null when clipping is off
        "memory_bytes": pl.Int64,  # highest VmData above the baseline sampled within the step
        "step_seconds": pl.Float32,
        "sequences": pl.Int32,  # batch size in effect
        "tokens": pl.Int32,  # without padding
        "unknown_tokens": pl.Int32,
        "covered_tokens": pl.Int32,  # known to the tokenizer and inside the model's vocabulary
        "max_token_id": pl.Int64,
        "mean_length": pl.Float32,
        "max_length": pl.Int32,
        "validation_loss": pl.Float32,  # null between validations
    }
)

NOISY_STEP_COLUMNS = frozenset({"step_seconds", "memory_bytes"})  # they measure the machine


@dataclass(frozen=True)
class Telemetry:
    """The two tables, sorted by key."""

    runs: pl.DataFrame
    steps: pl.DataFrame

    def select(self, predicate: pl.Expr) -> Telemetry:
        """Keep the runs that satisfy a predicate over the run columns, with their steps."""
        runs = self.runs.filter(predicate)
        return Telemetry(runs, self.steps.join(runs.select("run_id"), on="run_id", how="semi"))


def read_table(path: Path, schema: pl.Schema) -> pl.DataFrame:
    """Read a parquet file that must have exactly the columns and types of ``schema``."""
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise unreadable(path, error) from error
    refuse_other_columns(path, frame.schema, schema)
    return frame


def unreadable(path: Path, error: Exception) -> BadInputError:
    """The error for a file that cannot be read as parquet."""
    first_line = (str(error).splitlines() or ["unreadable"])[0]
    remedy = "Restore it with `git checkout -- data/telemetry`, or record it again."
    return BadInputError(path, "(file)", f"is not a readable parquet file ({first_line}).", remedy)


def refuse_other_columns(path: Path, actual: pl.Schema, schema: pl.Schema) -> None:
    """Refuse a file whose columns and types, in any order, differ from ``schema``."""
    for name, dtype in schema.items():
        actual_dtype = actual.get(name)
        if actual_dtype != dtype:
            problem = (
                "the column is missing."
                if actual_dtype is None
                else f"is {actual_dtype} and must be {dtype}."
            )
            remedy = "This is not failbench telemetry of this version; record it again."
            raise BadInputError(path, name, problem, remedy)
    for name in actual:
        if name not in schema:
            remedy = "This is not failbench telemetry of this version; record it again."
            raise BadInputError(path, name, "the column is unknown.", remedy)


def read_telemetry(folder: Path) -> Telemetry:
    """Read ``runs.parquet`` and every file of ``steps/``.

    Raises
    ------
    BadInputError
        If a file is unreadable or foreign, a run occurs twice, a step row has no run, or the
        number of a run's step rows differs from the one it reports.
    """
    runs_path = folder / "runs.parquet"
    runs = read_table(runs_path, RUN_SCHEMA).sort("run_id")
    repeated = runs.filter(pl.col("run_id").is_duplicated())
    if repeated.height:
        problem = f"{repeated['run_id'][0]!r} occurs twice."
        raise BadInputError(runs_path, "run_id", problem, "Record it again.")
    parts = []
    for path in sorted((folder / "steps").glob("*.parquet")):
        part = read_table(path, STEP_SCHEMA)
        refuse_orphans(path, part, runs)
        parts.append(part)
    steps = pl.concat([STEP_SCHEMA.to_frame(), *parts]).sort("run_id", "step")
    refuse_miscounted(folder, runs, steps)
    return Telemetry(runs, steps)


def refuse_orphans(path: Path, steps: pl.DataFrame, runs: pl.DataFrame) -> None:
    """Refuse a file of steps if one of its rows has no run."""
    orphans = steps.join(runs.select("run_id"), on="run_id", how="anti")
    if orphans.height:
        problem = f"the step rows of {orphans['run_id'][0]!r} have no run in runs.parquet."
        remedy = "Restore both files from one commit, or record the run again."
        raise BadInputError(path, "run_id", problem, remedy)


def refuse_miscounted(folder: Path, runs: pl.DataFrame, steps: pl.DataFrame) -> None:
    """Refuse a folder if the number of steps of a run differs from its number of rows."""
    counted = runs.select("run_id", "steps").join(
        steps.group_by("run_id").len(), on="run_id", how="left"
    )
    short = counted.filter(pl.col("steps") != pl.col("len").fill_null(0))
    if short.height:
        row = short.row(0, named=True)
        problem = f"{row['run_id']!r} has {row['len'] or 0} step rows and reports {row['steps']}."
        remedy = "Restore the files from one commit, or record the run again."
        raise BadInputError(folder / "steps", "run_id", problem, remedy)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write parquet (zstd) atomically."""
    # Through memory, because polars reports a full disk as a damaged file.
    content = io.BytesIO()
    frame.write_parquet(content, compression="zstd", compression_level=19, statistics=False)
    remedy = "Free space or choose another folder; an existing file is unchanged."
    write_atomically(path, content.getvalue(), remedy)


def categories_of(scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """The category of each scenario, as a table to join: ``scenario``, ``category``."""
    rows = [(scenario.id, scenario.category) for scenario in scenarios]
    return pl.DataFrame(
        rows, schema={"scenario": pl.String, "category": pl.String}, orient="row"
    ).sort("scenario")
