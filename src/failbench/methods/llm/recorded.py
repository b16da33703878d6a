"""Recorded answers: of a language model that was asked once and cannot be asked again."""

from pathlib import Path
from typing import Annotated, Final

import polars as pl
from pydantic import Field

from failbench.base.predictions import DECIMALS
from failbench.base.records import Record, read_rows
from failbench.base.vocabulary import CATEGORIES, Category

REMEDY: Final = "Restore it with git."


class RecordedAnswer(Record):
    """What was answered of a run: a category of cause, its probability and a sentence."""

    scenario: str
    run_id: str
    category: Category
    confidence: Annotated[float, Field(ge=1 / len(CATEGORIES), le=1)]
    explanation: str


def recorded_answers(runs: pl.DataFrame, seed: int, path: Path) -> pl.DataFrame:
    """The answered runs of a seed with ``prediction``, ``confidence`` and probabilities."""
    said = {each.run_id: each for each in read_rows(path, RecordedAnswer, REMEDY, ("run_id",))}
    asked = runs.filter(pl.col("run_id").is_in(list(said)), seed=seed).sort("run_id")
    answers = [said[run_id] for run_id in asked["run_id"]]
    sure = pl.Series([each.confidence for each in answers], dtype=pl.Float64)
    rest = (1 - sure) / (len(CATEGORIES) - 1)
    named = pl.Series([each.category for each in answers], dtype=pl.String)
    spread = {
        f"p_{name}": sure.zip_with(named == name, rest).round(DECIMALS) for name in CATEGORIES
    }
    empty = {"reason": pl.lit(None, pl.String), "conditions": pl.lit(None, pl.Int32)}
    return asked.with_columns(prediction=named, confidence=sure, **spread, **empty)
