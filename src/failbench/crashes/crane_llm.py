"""What CRANE-LLM publishes: accuracy without runtime information and with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows

REMEDY: Final = "Restore it with git; data/reported/README.md says where it is from."

Counted = Literal["detection", "detection and diagnosis"]
TOOLS = ("pyright", "pylint")
"""What is no language model."""

Share = Annotated[float, Field(ge=0, le=1)]


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
    for row in read_rows(path, PublishedRow, REMEDY):
        accuracies.setdefault((row.model, row.counted), {})[row.told] = row.accuracy
    models = {counted for model, counted in accuracies if model not in TOOLS}
    for counted in get_args(Counted):
        if counted not in models:
            raise BadInputError(path, "counted", f"no model is there of {counted!r}.", REMEDY)
    for (model, _), by_told in accuracies.items():
        if by_told.keys() != {"no", "yes"}:
            raise BadInputError(path, "told", f"{model!r} is not there with no and yes.", REMEDY)
    gains = [(*key, by_told["yes"] - by_told["no"]) for key, by_told in accuracies.items()]
    return pl.DataFrame(gains, ["model", "counted", "gain"], orient="row")
