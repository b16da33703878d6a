"""What CRANE-LLM publishes: accuracy without runtime information and with it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import Field, field_validator

from failbench.errors import BadInputError
from failbench.records import Record
from failbench.validation import validated

Counted = Literal["detection", "detection and diagnosis"]

TOOLS: Final = ("pyright", "pylint")
"""What is no language model."""

NOTEBOOKS: Final = 222
"""Of JunoBench: 111 pairs."""

REMEDY: Final = "Restore it with git; data/reported/README.md says where it is from."


class PublishedRow(Record):
    """A row of ``data/reported/crane_llm.csv``; shares are fractions, None where none is given."""

    model: str = Field(min_length=1)
    counted: Counted
    told: Literal["no", "yes"]
    precision: float | None = Field(ge=0, le=1)
    recall: float | None = Field(ge=0, le=1)
    f1: float = Field(ge=0, le=1)
    accuracy: float = Field(ge=0, le=1)

    @field_validator("precision", "recall", mode="before")
    @classmethod
    def _absent(cls, value: object) -> object:
        return None if value == "" else value


@dataclass(frozen=True)
class Published:
    """What is published of a model, counted in one way."""

    model: str
    counted: Counted
    without: float
    told: float
    f1_without: float
    f1_told: float

    @property
    def gain(self) -> float:
        """Of accuracy, a fraction."""
        return self.told - self.without


def read_published(path: Path) -> tuple[Published, ...]:
    """Read what is published, in the order of the file."""
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
    known = [
        validated(PublishedRow, row, f"{path}, line {line}", REMEDY)
        for line, row in enumerate(rows, start=2)
    ]
    for counted in get_args(Counted):
        if all(row.counted != counted or row.model in TOOLS for row in known):
            raise BadInputError(path, "counted", f"no model is there of {counted!r}.", REMEDY)
    keys = dict.fromkeys((row.model, row.counted) for row in known)
    return tuple(_joined(path, known, model, counted) for model, counted in keys)


def _joined(path: Path, rows: Sequence[PublishedRow], model: str, counted: Counted) -> Published:
    by_told = {row.told: row for row in rows if (row.model, row.counted) == (model, counted)}
    if by_told.keys() != {"no", "yes"}:
        raise BadInputError(path, "told", f"{model!r} is not there with no and yes.", REMEDY)
    without, told = by_told["no"], by_told["yes"]
    return Published(model, counted, without.accuracy, told.accuracy, without.f1, told.f1)
