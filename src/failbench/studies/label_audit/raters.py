"""Raters: what two language models answered when they were told causes and no labels."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

import polars as pl
from pydantic import BeforeValidator, Field, model_validator

from failbench.errors import BadInputError
from failbench.records import Record
from failbench.scenarios import Identifier, Scenario
from failbench.validation import validated
from failbench.vocabulary import Category

RATERS = ("rater_1", "rater_2")
EVENLY_DIVIDED = 2
"""The highest contest: the rater expects engineers to be evenly divided."""

Contest = Annotated[int, Field(ge=0, le=EVENLY_DIVIDED)]
Choice = Annotated[Category | None, BeforeValidator(lambda text: text or None)]

REMEDY = "Restore it with git."
ASK = "Restore it with git, or add what both raters answer: see data/reported/README.md."


class Rating(Record):
    """What both raters answered for one scenario; a row of ``data/reported/label_raters.csv``.

    ``contest`` is 0 where a rater expects that no engineer would disagree, 1 where some would and 2
    where they would be evenly divided; ``second`` is the second choice, which 0 leaves out.
    """

    scenario: Identifier
    rater_1: Category
    contest_1: Contest
    second_1: Choice
    rater_2: Category
    contest_2: Contest
    second_2: Choice

    @model_validator(mode="after")
    def _second_choices_fit(self) -> Self:
        for answer, contest, second in (
            (self.rater_1, self.contest_1, self.second_1),
            (self.rater_2, self.contest_2, self.second_2),
        ):
            if (second is None) != (contest == 0):
                raise ValueError("a second choice must be given exactly where the contest is not 0")
            if second == answer:
                raise ValueError("a second choice must differ from the answer")
        return self


def read_ratings(path: Path, scenarios: Sequence[Scenario]) -> pl.DataFrame:
    """Read what the raters answered, beside the label of each scenario."""
    defined = {scenario.id: scenario for scenario in scenarios}
    ratings: dict[str, Rating] = {}
    for line, row in _rows(path):
        rating = validated(Rating, row, f"{path}, line {line}", REMEDY)
        name = rating.scenario
        if name in ratings or name not in defined:
            problem = "is there twice." if name in ratings else "is no scenario that is defined."
            remedy = f"Take one out, or restore {name}.json with git."
            raise BadInputError(f"{path}, line {line}", "scenario", f"{name!r} {problem}", remedy)
        ratings[name] = rating
    missing = sorted(set(defined) - set(ratings))
    if missing:
        problem = f"there is no row of {missing[0]!r} (of {len(missing)} scenarios in all)."
        raise BadInputError(path, "scenario", problem, ASK)
    return pl.DataFrame(
        [
            {"category": scenario.category, "root_cause": scenario.root_cause}
            | ratings[name].model_dump()
            for name, scenario in defined.items()
        ],
        infer_schema_length=None,
    )


def _rows(path: Path) -> list[tuple[int, Mapping[str, object]]]:
    """Rows by column, each with its line; what has no heading is a column of its own."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, restkey="(no heading)")
            return [(reader.line_num, row) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
