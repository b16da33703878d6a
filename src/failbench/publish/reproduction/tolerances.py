"""Tolerances of regenerated numbers: ``rules.csv``, whose first match applies, with reasons."""

# Numbers differ between processors because linear algebra sums in another order; the answers that
# follow from them must not. Texts, answers, keys and counts never have a tolerance.

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.resources import files
from typing import Final

from failbench.base.errors import BadInputError

CHANGED: Final = math.inf
"""Share of the tolerance for values without tolerance: texts, answers, counts."""


@dataclass(frozen=True)
class Tolerance:
    """Two numbers agree within ``absolute`` plus ``relative`` times the larger magnitude."""

    absolute: float
    relative: float

    def share(self, committed: float, regenerated: float) -> float:
        """The difference of two numbers as a share of what is allowed; NaN equals NaN.

        >>> Tolerance(absolute=1.0, relative=0.0).share(1.0, 1.5)
        0.5
        >>> Tolerance(absolute=0.0, relative=0.0).share(1.0, 1.5)
        inf
        """
        if committed == regenerated or (math.isnan(committed) and math.isnan(regenerated)):
            return 0.0
        if not (math.isfinite(committed) and math.isfinite(regenerated)):
            return CHANGED
        allowed = self.absolute + self.relative * max(abs(committed), abs(regenerated))
        return abs(committed - regenerated) / allowed if allowed else CHANGED


COLOUR: Final = Tolerance(absolute=3.0, relative=0.0)
"""Levels of a channel of 255: a hundredth of the scale of a heat map changes a colour by fewer."""

COUNTED: Final = Tolerance(absolute=1.0, relative=1e-3)
"""Tolerance of the columns of a rule: counts up to a threshold, which may change by one."""


@dataclass(frozen=True)
class FileRule:
    """How files of a pattern are compared, with the tolerance of their numbers and its reason."""

    pattern: str
    kind: str
    tolerance: Tolerance
    columns: tuple[str, ...]
    reason: str

    @classmethod
    def of(cls, row: Mapping[str, str]) -> FileRule:
        """The rule of a row of ``rules.csv``."""
        tolerance = Tolerance(float(row["absolute"]), float(row["relative"]))
        columns = tuple(row["columns"].split())
        return cls(row["pattern"], row["kind"], tolerance, columns, row["reason"])


@dataclass(frozen=True)
class Difference:
    """One value of a file that differs from the committed one."""

    place: str
    field: str
    committed: str
    regenerated: str
    share: float = CHANGED

    @property
    def within(self) -> bool:
        """Whether it is within the tolerance between processors."""
        return self.share <= 1

    def __str__(self) -> str:
        location = ", ".join(part for part in (self.place, self.field) if part)
        return f"{location}: {self.committed} -> {self.regenerated}"


_RULES = files("failbench.publish.reproduction").joinpath("rules.csv").read_text("utf-8")
FILE_RULES: Final = tuple(map(FileRule.of, csv.DictReader(_RULES.splitlines())))


def rule_of(path: str) -> FileRule:
    """The rule of a file."""
    for rule in FILE_RULES:
        if fnmatch(path, rule.pattern):
            return rule
    remedy = "Declare one in src/failbench/publish/reproduction/rules.csv."
    raise BadInputError(path, "(file)", "is a result whose kind has no tolerance.", remedy)
