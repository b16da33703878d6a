"""Answers that are not computed again: those of predictors, and accuracies that are published."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows
from failbench.base.replay import AnswerTable
from failbench.crashes.question import Question

ANSWER_SCHEMA: Final = pl.Schema(
    {
        "predictor": pl.String(),
        "arm": pl.String(),
        "pair": pl.String(),
        "version": pl.String(),  # of the notebook: "crashing" or "mended"
        "crash": pl.Boolean(),  # null where the predictor cannot say
        "exception": pl.String(),  # null where none is named
        "reason": pl.String(),
        "line": pl.Int64(),  # of the target, counted from 1; null where none is pointed at
        "asked": pl.String(),  # sha256 of the question
        "maker": pl.String(),  # what answered: versions, or a hash of code
    }
)
"""Columns of the table; its key is the first four."""

KEY: Final = ("predictor", "arm", "pair", "version")

REMEDY: Final = "Restore it with git, or run `make record-crashes`."

ANSWER_TABLE: Final = AnswerTable(ANSWER_SCHEMA, KEY, KEY, ("asked", "maker"), REMEDY)

RESTORE: Final = "Restore it with git; data/reported/README.md says where it is from."

Counted = Literal["detection", "detection and diagnosis"]
TOOLS = ("pyright", "pylint")
"""What is no language model."""

Share = Annotated[float, Field(ge=0, le=1)]


def asked(question: Question) -> str:
    """SHA-256 of a question, by which a recorded answer is known to be of it."""
    summary = None if question.summary is None else asdict(question.summary)
    content = {"executed": question.executed, "target": question.target, "summary": summary}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class PublishedRow(Record):
    """A row of ``data/reported/crane_llm.csv``; shares are fractions, empty where none is given."""

    model: str = Field(min_length=1)
    counted: Counted
    told: Literal["no", "yes"]
    precision: Share | Literal[""]
    recall: Share | Literal[""]
    f1: Share
    accuracy: Share


def read_published(path: Path) -> pl.DataFrame:
    """What each model gains in accuracy, a fraction, as counted in either way."""
    accuracies: dict[tuple[str, str], dict[str, float]] = {}
    for row in read_rows(path, PublishedRow, RESTORE):
        accuracies.setdefault((row.model, row.counted), {})[row.told] = row.accuracy
    models = {counted for model, counted in accuracies if model not in TOOLS}
    for counted in get_args(Counted):
        if counted not in models:
            raise BadInputError(path, "counted", f"no model is there of {counted!r}.", RESTORE)
    for (model, _), by_told in accuracies.items():
        if by_told.keys() != {"no", "yes"}:
            raise BadInputError(path, "told", f"{model!r} is not there with no and yes.", RESTORE)
    gains = [(*key, by_told["yes"] - by_told["no"]) for key, by_told in accuracies.items()]
    return pl.DataFrame(gains, ["model", "counted", "gain"], orient="row")
