"""Catalogue of the lenses as data: numbers, verdicts, and what four verdicts say together.

Terms are of a published workflow, whose places the files name and which leaves thresholds to the
eye. What each lens should say of each condition was written before it was asked.
"""

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import polars as pl
from pydantic import BeforeValidator, Field, TypeAdapter

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows, read_rows

Lens = Literal["surface", "fft", "compression", "hazard"]
LENSES: Final[tuple[Lens, ...]] = get_args(Lens)  # in the order of the workflow
End = Literal["value", "ci_low", "ci_high"]
Relation = Literal["above", "at_least", "below", "at_most"]

HOLDS: Final[dict[Relation, Callable[[float, float], bool]]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}
REMEDY: Final = "Restore it with git, or correct it after the verdicts of lenses/data/rules.json."


class MeasureKind(Record):
    """A number that a lens emits."""

    lens: Lens
    name: str
    title: str
    unit: str
    interval: Literal["wilson", "resampled", "fixed"]
    meaning: str


@dataclass(frozen=True)
class Measure:
    """A number with its interval."""

    kind: MeasureKind
    value: float
    ci_low: float
    ci_high: float
    n: int
    draws: Array = field(repr=False, compare=False)


class Condition(Record):
    """What a number must be for a verdict."""

    measure: str
    end: End
    relation: Relation = Field(alias="is")
    threshold: float
    reason: str = Field(min_length=10)

    def holds(self, measures: Mapping[str, Measure]) -> bool:
        """Whether it holds; never where its number is not defined."""
        value = getattr(measures[self.measure], self.end)
        return math.isfinite(value) and HOLDS[self.relation](value, self.threshold)


class Rule(Record):
    """A verdict and what it takes: all its conditions."""

    verdict: str
    meaning: str = Field(min_length=10)
    place: str
    conditions: tuple[Condition, ...]


class Synthesis(Record):
    """What four verdicts say together; of a lens whose verdicts are none any verdict fits."""

    id: str
    surface: tuple[str, ...]
    fft: tuple[str, ...]
    compression: tuple[str, ...]
    hazard: tuple[str, ...]
    hypothesis: str = Field(min_length=10)
    action: str = Field(min_length=10)
    place: str

    def fits(self, lens: Lens, verdict: str) -> bool:
        """Whether the verdict of a lens is one of those that it names."""
        return verdict in (getattr(self, lens) or (verdict,))


def _text(name: str) -> str:
    return files("failbench.neighbours.lenses").joinpath("data", name).read_text(encoding="utf-8")


@cache
def measure_kinds() -> dict[Lens, dict[str, MeasureKind]]:
    """The numbers of each lens by their names, in their order."""
    kinds = packaged_rows("failbench.neighbours.lenses", "measures.csv", MeasureKind)
    return {lens: {kind.name: kind for kind in kinds if kind.lens == lens} for lens in LENSES}


@cache
def rules() -> dict[Lens, tuple[Rule, ...]]:
    """The rules of each lens; the first whose conditions all hold gives the verdict."""
    return TypeAdapter(dict[Lens, tuple[Rule, ...]]).validate_json(_text("rules.json"))


@cache
def syntheses() -> tuple[Synthesis, ...]:
    """The joint hypotheses; the first that fits is the one."""
    return TypeAdapter(tuple[Synthesis, ...]).validate_json(_text("syntheses.json"))


def verdict_of(lens: Lens, measures: Mapping[str, Measure]) -> Rule:
    """The first rule of a lens whose conditions all hold; the last has none."""
    return next(rule for rule in rules()[lens] if all(c.holds(measures) for c in rule.conditions))


def synthesis_of(verdicts: Mapping[Lens, str]) -> Synthesis:
    """The first joint hypothesis that four verdicts fit; the last takes any."""
    return next(each for each in syntheses() if all(each.fits(*item) for item in verdicts.items()))


def _split(text: object) -> object:
    return tuple(text.split()) if isinstance(text, str) else text


class Expected(Record):
    """A row of ``data/reasoning/expected_verdicts.csv``."""

    condition: str = Field(min_length=1)
    lens: Lens
    verdicts: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(min_length=1)
    telling: bool
    why: str = Field(min_length=10)


def read_expected(path: Path) -> tuple[Expected, ...]:
    """Read what is expected."""
    records = read_rows(path, Expected, REMEDY, ("condition", "lens"))
    for line, each in enumerate(records, start=2):
        known = {rule.verdict for rule in rules()[each.lens]}
        for verdict in each.verdicts:
            if verdict not in known:
                problem = f"{verdict!r} is no verdict of {each.lens}."
                raise BadInputError(f"{path}, line {line}", "verdicts", problem, REMEDY)
    return tuple(records)


def verdicts_given(
    verdicts: pl.DataFrame, expected: Iterable[Expected], healthy: str
) -> pl.DataFrame:
    """How often expected verdicts are given: of their condition, of healthy and of other models."""
    rows = []
    for each in expected:
        of_lens = verdicts.filter(lens=each.lens)
        own = of_lens.filter(condition=each.condition)
        parts = {
            "given": own,
            "healthy": of_lens.filter(condition=healthy),
            "others": of_lens.filter(~pl.col("condition").is_in([each.condition, healthy])),
        }
        row = each.model_dump()
        for name, part in parts.items():
            given = part.filter(pl.col("verdict").is_in(each.verdicts))
            row |= {name: given.height, f"n_{name}": part.height}
        rows.append(row | {"usual": Counter(sorted(own["verdict"])).most_common(1)[0][0]})
    return pl.DataFrame(rows)
