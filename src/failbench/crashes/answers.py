"""Answers of predictors that are recorded and not computed again, as a table."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Final

import polars as pl

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


def asked(question: Question) -> str:
    """SHA-256 of a question, by which a recorded answer is known to be of it."""
    summary = None if question.summary is None else asdict(question.summary)
    content = {"executed": question.executed, "target": question.target, "summary": summary}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
