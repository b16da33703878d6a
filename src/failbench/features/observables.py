"""Observables, which a diagnosis may use, and measurements beside them."""

from dataclasses import dataclass

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import STEP_SCHEMA, Telemetry
from failbench.features.feature import RECENT_STEPS, slope

ERROR_COLUMNS = ("error_type", "error_message", "error_traceback")  # known at a run's end alone

CONFIGURATION_COLUMNS = (  # the effective one: nominal values are those of the twin
    *("capacity_bytes", "parameters", "width", "layers", "heads"),
    *("model_vocabulary", "tokenizer_vocabulary", "schedule"),
)

CORPUS_COLUMNS = (
    "corpus_documents",
    "corpus_tokens",
    "corpus_distinct_tokens",
    "corpus_unknown_rate",
    "corpus_token_entropy",
)

RUN_COLUMNS = (*ERROR_COLUMNS, *CONFIGURATION_COLUMNS, *CORPUS_COLUMNS)
STEP_COLUMNS = tuple(name for name in STEP_SCHEMA if name != "run_id")
"""Allow-lists, so that a column added to telemetry stays hidden until it is listed."""

# A frame of a traceback is its "File" line, the source and marker lines below it, which Python
# indents by four, and the line that says how often the frame above it was repeated.
_PROJECT_FRAME = (
    r'(?m)^  File "[^"\n]*\bfailbench/[^\n]*(?:\n|\z)'
    r"(?:    [^\n]*(?:\n|\z))*"
    r"(?:  \[Previous line repeated [^\n]*(?:\n|\z))?"
)


@dataclass(frozen=True)
class Observables:
    """The observable part of runs, each at a snapshot step."""

    runs: pl.DataFrame
    steps: pl.DataFrame


def without_project_frames(traceback: pl.Expr) -> pl.Expr:
    """Drop every frame in ``failbench/``, as they name the fault; messages stay verbatim."""
    return traceback.str.replace_all(_PROJECT_FRAME, "")


def observe(telemetry: Telemetry, last_steps: pl.DataFrame) -> tuple[Observables, tuple[str, ...]]:
    """Cut runs at snapshot steps and keep what a diagnosis may use.

    Error text is included only where the snapshot is the last recorded step or later. A snapshot
    before a run's end thus equals the last snapshot of a run that ended there.

    Parameters
    ----------
    telemetry
        Recorded runs.
    last_steps
        One row per snapshot: ``run_id`` and ``last_step``, the last observed step. A run may
        occur several times. A null is allowed for runs that have no steps.

    Returns
    -------
    observables
        Keyed by ``row``, the position in ``last_steps``.
    run_ids
        The run of each row. They are returned separately because an id names the scenario.

    Raises
    ------
    BadInputError
        If a run is not in the telemetry, or a run with steps has a null ``last_step``.
    """
    snapshots = last_steps.select("run_id", "last_step").with_row_index("row")
    ends = telemetry.steps.group_by("run_id").agg(pl.col("step").max().alias("end"))
    keyed = snapshots.join(ends, on="run_id", how="left", maintain_order="left")
    _refuse(
        keyed.join(telemetry.runs, on="run_id", how="anti"),
        "is not in the telemetry.",
        "Take run_ids from the runs table.",
    )
    _refuse(
        keyed.filter(pl.col("last_step").is_null() & pl.col("end").is_not_null()),
        "has steps but no last step.",
        "Give the step of the snapshot.",
    )
    includes_end = pl.col("end").is_null() | (pl.col("last_step") >= pl.col("end"))
    runs = (
        keyed.join(telemetry.runs, on="run_id", how="left", maintain_order="left")
        .with_columns(without_project_frames(pl.col("error_traceback")))
        .with_columns(
            pl.when(includes_end).then(pl.col(name)).alias(name) for name in ERROR_COLUMNS
        )
        .select("row", *RUN_COLUMNS)
    )
    steps = (
        keyed.join(telemetry.steps, on="run_id", how="inner")
        .filter(pl.col("step") <= pl.col("last_step"))
        .select("row", *STEP_COLUMNS)
        .sort("row", "step")
    )
    return Observables(runs, steps), tuple(snapshots["run_id"])


def _refuse(rows: pl.DataFrame, problem: str, remedy: str) -> None:
    if rows.height:
        raise BadInputError("last_steps", "run_id", f"{rows['run_id'][0]!r} {problem}", remedy)


HEAD_STEPS = 100  # whose time counts as normal: before the earliest onset in mid-run
SLOW = 2.0  # a step that takes this many times the median is slow, as is a run from this factor on

STEP_TIMES = ("step_seconds_ratio", "slowest_step_ratio", "slow_step_share", "step_seconds_trend")
"""Of the seconds: last over first, slowest over median, share of slow steps, logarithmic slope."""

ENDINGS = ("ended_exception", "ended_signal", "ended_timeout")  # none if the run completed

MEASUREMENTS = (*STEP_TIMES, *ENDINGS)


def measurements(telemetry: Telemetry) -> pl.DataFrame:
    """Measure runs at their failure, from the same steps that their features are taken from."""
    runs = telemetry.runs.sort("run_id")
    endings = ("completed", *(name.removeprefix("ended_") for name in ENDINGS))
    unknown = runs.filter(~pl.col("ending").is_in(endings))
    if unknown.height:
        problem = f"{unknown['run_id'][0]!r} ended by {unknown['ending'][0]!r}."
        raise BadInputError("telemetry", "ending", problem, f"Known are {', '.join(endings)}.")
    ended = (
        (pl.col("ending") == name.removeprefix("ended_")).cast(pl.Float64).alias(name)
        for name in ENDINGS
    )
    return (
        runs.select("run_id", *ended)
        .join(_step_times(telemetry), on="run_id", how="left", maintain_order="left")
        .select("run_id", *MEASUREMENTS)
    )


def _step_times(telemetry: Telemetry) -> pl.DataFrame:
    seconds = pl.col("step_seconds")
    timed = (
        telemetry.steps.join(telemetry.runs.select("run_id", "failure_step"), on="run_id")
        .filter(pl.col("step") <= pl.col("failure_step"), seconds > 0)
        .with_columns(seconds.cast(pl.Float64))
        .with_columns(log_seconds=seconds.log())
        .sort("run_id", "step")
    )
    expressions = {
        "step_seconds_ratio": seconds.tail(RECENT_STEPS).median()
        / seconds.head(HEAD_STEPS).median(),
        "slowest_step_ratio": seconds.max() / seconds.median(),
        "slow_step_share": (seconds > SLOW * seconds.median()).mean(),
        "step_seconds_trend": slope("log_seconds"),
    }
    several = pl.len() > 1
    return timed.group_by("run_id", maintain_order=True).agg(
        pl.when(several).then(expressions[name]).alias(name) for name in STEP_TIMES
    )
