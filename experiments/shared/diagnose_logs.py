"""What measuring diagnoses of logs and reporting them share."""

from typing import Annotated

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.base.slices import Seeds
from failbench.diagnose.known import Choices


class DiagnosedLogs(Choices):
    """Which logs are rendered, and how models are fitted to them; a section of params.yaml."""

    run_seeds: Seeds
    formats_per_run: int = Field(ge=1)
    monitor_version: str
    repeats: int = Field(ge=1)
    coverage: float = Field(gt=0, le=1)
    bins: int = Field(ge=2)
    floor_draws: int = Field(ge=1)
    evidence_logs: int = Field(ge=1)
    steps_ahead: tuple[Annotated[int, Field(ge=1)], ...]
    reading_runs: int = Field(ge=1)
    outside_folds: int = Field(ge=2)


class MessageExample(Record):
    """A message of the catalogue as its library prints it, and one that is none."""

    id: str
    name: str
    text: str
    near_miss: str


ANSWER_SCHEMA = pl.Schema(
    {
        "model": pl.String(),  # what the log is
        "author": pl.String(),  # of the scenario
        "repeat": pl.Int32(),
        "fold": pl.Int32(),
        **dict.fromkeys(("run_id", "format", "kind", "setting"), pl.String()),
        "seed": pl.Int32(),
        "scenario": pl.String(),
        "category": pl.String(),  # null of a healthy run, as is its cause
        "cause": pl.String(),
        "present": pl.String(),  # signals that the log shows
        "says_end": pl.Boolean(),  # whether it has an exception or a death
        "alarm": pl.Boolean(),  # whether anything in it is taken to be wrong
        "prediction": pl.String(),  # the most probable category, named where confidence allows
        "confidence": pl.Float64(),
        "predicted_cause": pl.String(),  # the most probable one of all
        "cause_confidence": pl.Float64(),
        "next_causes": pl.List(pl.String),  # the most probable, by name
        "evidence": pl.String(),  # the component that the first item is about
        "components": pl.List(pl.String),  # ... and those of all items, in the order shown
        "by_hand": pl.String(),  # of a monitor's log: what the order by hand says
    }
)
"""A row per log and repeat."""

# a monitor's log with bounds of healthy runs of its setting, and of all other settings
OWN_BOUNDS, CARRIED_BOUNDS = "monitor", "monitor, bounds of others"
AHEAD = "steps ahead"
"""In the format of a monitor's log that was cut before the failure."""

EVIDENCE_SCHEMA = pl.Schema(
    {
        "run_id": pl.String,
        "item": pl.Int32,
        **dict.fromkeys(("format", "kind", "checked_by"), pl.String),
        "found": pl.Boolean,
    }
)
"""A row per item of evidence of a run's log; :func:`failbench.diagnose.finding.look_up`."""

# what answers to the logs of others were learnt from, and what they read
ALL, WITHOUT_WORDS, WORDS, BENCHMARK = "all", "all, without words", "words", "benchmark"
CURVES, MESSAGES, SYMPTOM, BY_HAND = "curves", "messages", "symptom", "order by hand"
WITHOUT_MESSAGES = "all, without messages"

OUTSIDE_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("learnt", "corpus", "log", "group"), pl.String()),
        "place": pl.Int32(),  # among logs of one scenario
        "part": pl.String(),  # what kind a program is, or whether an expert can tell from a report
        "category": pl.String(),  # null of a healthy run
        "cause": pl.String(),  # null where the catalogue has none
        "alarm": pl.Boolean(),
        "prediction": pl.String(),
        "confidence": pl.Float64(),
        "predicted_cause": pl.String(),
        "cause_confidence": pl.Float64(),
        "next_causes": pl.List(pl.String),  # the most probable, by name
        "healthy": pl.Float64(),  # how probable, were nothing found
        "evidence": pl.String(),  # the component that the first item is about
        "components": pl.List(pl.String),  # ... and those of all items, in the order shown
    }
)
"""A row per log of others, and what was learnt; authors and owners were left out."""

LOGIT = "logit"
"""The package's own learner."""

LEARNER_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("left_out", "learner", "log"), pl.String()),
        "place": pl.Int32(),  # among the logs of the author that was left out
        **dict.fromkeys(("category", "prediction"), pl.String()),
    }
)
"""A row per learner and monitored log of an author that was left out."""

READING_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("corpus", "format"), pl.String()),  # or how a line is written; or all
        "values": pl.Int64(),  # numbers that the logs show, under a name
        "read": pl.Int64(),  # of these, under that name
        "steps_in_text": pl.Int64(),  # values whose step is shown, too; null by kind of line
        "steps_read": pl.Int64(),
        "invented": pl.Int64(),  # numbers that were read and not shown
        "logs": pl.Int64(),
    }
)
"""A row per corpus and format."""

AGAINST_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("corpus", "log", "group", "part", "other"), pl.String()),
        "fails": pl.Boolean(),
        "compared": pl.Int32(),  # curves
        "parts": pl.Boolean(),
        "at": pl.Float64(),  # the share of the log at which the first curve parts, null if none
        "stops": pl.Boolean(),  # whether it has fewer values; the benchmark's end at the failure
        "says": pl.Boolean(),  # whether anything alarms that the good run's log does not show
    }
)
"""A row per pair; limits are of pairs of other authors, or of the benchmark's other settings."""
