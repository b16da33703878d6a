"""Answers: what a preflight said of recorded runs, as a table that is read without torch."""

from pathlib import Path
from typing import Final, Literal, get_args

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.replay import DENSE, AnswerTable

# before the first step, before the step of the fault's onset, before the step that crashes
Look = Literal["start", "onset", "failure"]
LOOKS: Final[tuple[Look, ...]] = get_args(Look)

# columns of the table; its key is ``(run_id, look)``
ANSWER_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "look": pl.String(),
        "step": pl.Int64(),  # that the preflight was about
        "reached": pl.Boolean(),  # whether the program came as far as to have model and batch
        "findings": pl.List(pl.String),  # their kinds, the worst first; empty where not reached
        "severities": pl.List(pl.String),
        "causes": pl.List(pl.String),  # empty text where a finding names none
        "places": pl.List(pl.String),  # module, parameter or key
        "errors": pl.List(pl.String),  # empty text where no exception is foreseen
        "estimated_bytes": pl.Int64(),  # peak of the step; null where it was not followed
        "capacity_bytes": pl.Int64(),  # what it was held against; null where there was no limit
        "seconds": pl.Float64(),  # that the preflight took
        "step_seconds": pl.Float64(),  # median of the run's steps around it
        "error_type": pl.String(),  # of the exception that ended the run; null where none did
        "compared_steps": pl.Int64(),  # of this run and of the one in the telemetry
        "equal": pl.Boolean(),  # whether these are equal in all that does not measure the machine
        "fingerprint": pl.String(),  # of the run and of the preflight's code
    }
)

REMEDY: Final = "Run `make record-preflight`."

ANSWER_TABLE: Final = AnswerTable(
    ANSWER_SCHEMA, ("run_id", "step", "look"), ("run_id",), ("fingerprint",), REMEDY, DENSE
)


def read_answers(path: Path) -> pl.DataFrame:
    """Read the table."""
    table = ANSWER_TABLE.read(path)
    if table.is_empty():
        raise BadInputError(path, "(rows)", "the table has none.", REMEDY)
    return table
