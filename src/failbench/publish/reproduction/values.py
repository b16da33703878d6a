"""Differences between values of files, against tolerances by file (``data/rules.csv``)."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Annotated, Final

import polars as pl
import yaml
from pydantic import BeforeValidator

from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows

# Numbers differ between processors because linear algebra sums in another order; the answers that
# follow from them must not. Texts, answers, keys and counts never have a tolerance.


CHANGED: Final = math.inf  # share of the tolerance of texts, answers, counts, which have none


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


COLOUR: Final = Tolerance(absolute=3.0, relative=0.0)  # of 255: under a hundredth of a scale
COUNTED: Final = Tolerance(absolute=1.0, relative=1e-3)  # up to a threshold, by one


class FileRule(Record):
    """How files of a pattern are compared, with the tolerance of their numbers and its reason."""

    pattern: str
    kind: str
    absolute: float
    relative: float
    columns: Annotated[tuple[str, ...], BeforeValidator(str.split)]
    reason: str

    @property
    def tolerance(self) -> Tolerance:
        """Of the numbers of a file."""
        return Tolerance(self.absolute, self.relative)


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


FILE_RULES: Final = packaged_rows("failbench.publish.reproduction", "rules.csv", FileRule)


def rule_of(path: str) -> FileRule:
    """The rule of a file."""
    for rule in FILE_RULES:
        if fnmatch(path, rule.pattern):
            return rule
    remedy = "Declare one in src/failbench/publish/reproduction/data/rules.csv."
    raise BadInputError(path, "(file)", "is a result whose kind has no tolerance.", remedy)


NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
RULER = re.compile(r"^[|:\- ]+$")  # below a Markdown header, as wide as the widest entry
ROUNDING = 1 + 1e-9  # 0.3 - 0.2 is not 0.1 in binary

MISSING_KEY = "(absent)"

KEY_LENGTH = 6  # most values in the name of a row, first those without tolerance: predictions' key


def text_share(committed: str, regenerated: str) -> float:
    """The largest difference between the numbers of two texts, in units of their last digits.

    >>> text_share("59.2 [51.3, 67.1] of 76", "59.2 [51.2, 67.1] of 76") <= 1
    True
    >>> text_share("59.2 of 76", "59.2 of 75")
    inf
    >>> text_share("p = 0.001", "p < 0.001")
    inf
    """
    if committed == regenerated:
        return 0.0
    line, other = normal(committed), normal(regenerated)
    if NUMBER.sub("#", line) != NUMBER.sub("#", other):
        return CHANGED
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    return max((_share(number, another) for number, another in pairs), default=0.0)


def _share(committed: str, regenerated: str) -> float:
    (before, unit), (after, other) = _number(committed), _number(regenerated)
    # Digits that a general format omits are zeros: the finer unit applies to both.
    finer = min(filter(None, (unit, other)), default=0.0) * ROUNDING
    return Tolerance(absolute=finer, relative=0.0).share(before, after)


def _number(text: str) -> tuple[float, float]:
    """A number, and the unit of its last digit; 0 for whole numbers, which are counts."""
    plain = text.replace("−", "-")
    mantissa, _, exponent = plain.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    is_count = not decimals and not exponent
    return float(plain), 0.0 if is_count else 10.0 ** (int(exponent or 0) - decimals)


def normal(line: str) -> str:
    """A line without what the widest entry of a table decides."""
    if RULER.match(line):
        return re.sub(r"-+", "-", line.replace(" ", ""))
    return re.sub(r"\s+", " ", line.strip())


def metrics_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two files of metrics, by key; fractions have a tolerance."""
    return _nested(json.loads(committed), json.loads(regenerated), rule.tolerance)


def lock_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two locks but for hashes and sizes: the files are compared."""
    before, after = (_declared(yaml.safe_load(text)) for text in (committed, regenerated))
    return _nested(before, after, rule.tolerance)


def described_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two Croissant descriptions, but for hashes and sizes, as of locks."""
    before, after = (_without_hashes(json.loads(text)) for text in (committed, regenerated))
    return _nested(before, after, rule.tolerance)


def _without_hashes(description: object) -> object:
    if isinstance(description, dict):
        kept = description.keys() - {"sha256", "contentSize"}
        return {key: _without_hashes(value) for key, value in description.items() if key in kept}
    if isinstance(description, list):
        return {str(place): _without_hashes(item) for place, item in enumerate(description)}
    return description


def _declared(lock: object) -> object:
    if isinstance(lock, dict):
        return {key: _declared(value) for key, value in lock.items()}
    if isinstance(lock, list) and all(isinstance(item, dict) and "path" in item for item in lock):
        return {str(item["path"]): True for item in lock}
    return lock


def _nested(committed: object, regenerated: object, limit: Tolerance) -> list[Difference]:
    before, after = dict(_leaves(committed)), dict(_leaves(regenerated))
    differences = []
    for key in before | after:
        value, other = before.get(key, MISSING_KEY), after.get(key, MISSING_KEY)
        share = 0.0 if type(value) is type(other) and value == other else CHANGED
        if isinstance(value, float) and isinstance(other, float):
            share = limit.share(value, other)
        if share:
            differences.append(Difference("", key, str(value), str(other), share))
    return differences


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def parquet_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two parquet files; floats have a tolerance, other columns none."""
    before, after = pl.read_parquet(committed), pl.read_parquet(regenerated)
    typed = [[f"{name} ({kind})" for name, kind in each.schema.items()] for each in (before, after)]
    if shape := _shape_differences(typed[0], typed[1], before.height, after.height):
        return shape
    limits = {
        column: COUNTED if column in rule.columns else rule.tolerance if _is_float(kind) else None
        for column, kind in before.schema.items()
    }
    key = [column for column, limit in limits.items() if limit is None][:KEY_LENGTH]
    names = [_name(row, map(str, values)) for row, values in enumerate(before.select(key).rows())]
    differences = []
    for column, limit in limits.items():
        for row in before[column].ne_missing(after[column]).arg_true():
            value, other = before.item(row, column), after.item(row, column)
            if isinstance(value, pl.Series) and isinstance(other, pl.Series):
                value, other = value.to_list(), other.to_list()
            share = CHANGED if limit is None else _of_values(value, other, limit)
            differences.append(Difference(names[row], column, _text(value), _text(other), share))
    return differences


def _is_float(kind: pl.DataType) -> bool:
    return kind.is_float() or (isinstance(kind, pl.List) and kind.inner.is_float())


def _of_values(value: object, other: object, limit: Tolerance) -> float:
    """Of numbers, or of lists of them, how much of what is allowed lies between the two."""
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        shares = (_of_values(*each, limit) for each in zip(value, other, strict=True))
        return max(shares, default=0.0)
    if isinstance(value, int | float) and isinstance(other, int | float):
        return limit.share(value, other)
    return 0.0 if value == other else CHANGED


def points_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two CSV files; fractions have a tolerance, other values are texts."""
    (header, *before), (other_header, *after) = _csv_rows(committed), _csv_rows(regenerated)
    if shape := _shape_differences(header, other_header, len(before), len(after)):
        return shape
    differences = []
    for number, (row, other_row) in enumerate(zip(before, after, strict=True)):
        name = _name(number, (value for value in row if _fraction(value) is None))
        for column, value, other in zip(header, row, other_row, strict=True):
            numbers = _fraction(value), _fraction(other)
            share = text_share(value, other)
            if share and None not in numbers:
                share = rule.tolerance.share(*numbers)  # type: ignore[arg-type]
            if share:
                differences.append(Difference(name, column, _text(value), _text(other), share))
    return differences


def _shape_differences(
    columns: list[str], others: list[str], rows: int, other_rows: int
) -> list[Difference]:
    if columns != others:
        return [Difference("", "columns", ", ".join(columns), ", ".join(others))]
    return [] if rows == other_rows else [Difference("", "rows", str(rows), str(other_rows))]


def _fraction(text: str) -> float | None:
    """The number in a field; None for whole numbers, which are counts or keys."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if text.lstrip("-").isdecimal() or not math.isfinite(number) else number


def _csv_rows(content: bytes) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("Its rows differ in length.")
    return rows


def _name(row: int, values: Iterator[str]) -> str:
    key = [value for value in values if value][:KEY_LENGTH]
    return f"row {row + 1} ({' '.join(key)})" if key else f"row {row + 1}"


def _text(value: object) -> str:
    return "null" if value is None or value == "" else str(value)
