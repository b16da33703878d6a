"""Placeholders: metrics by file and path, and how sentences write them.

============  ==================================================  ==========================
``{f:p}``     share as percent, with its interval if it has one   ``27.9 [19.6, 36.4] %``
``|points``   difference of shares, signed, in points             ``−30.9 [−40.7, −21.8] points``
``|size``     the same without a sign                             ``13.7 points``
``|percent``  share as percent, alone                             ``27.9 %``
``|number``   number with two decimals, and its interval          ``0.22 [0.10, 0.33]``
``|count``    whole number                                        ``76``
============  ==================================================  ==========================
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from failbench.errors import BadInputError
from failbench.reporting.cells import percent, signed, two_decimals, with_interval

METRICS: Final = "data/metrics"
RETIRED: Final = "data/reported/retired.json"
"""What methods that are gone had reached, each with the commit that has their code."""

DECLARED: Final = "data/reported/negative_results.yaml"
PLACEHOLDER: Final = re.compile(r"\{(?P<file>\w+):(?P<path>[^{}|]+)(?:\|(?P<form>\w+))?\}")
CONDITION: Final = re.compile(r"^(?P<left>.+?) (?P<sign><=|>=|<|>) (?P<right>.+)$")
REFERENCE: Final = re.compile(r"^(?P<file>[a-z]\w*):(?P<path>.+)$")
COMPARED: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
VALUES: Final = ("value", "difference")
"""Keys of the number itself among those of an estimate."""

Metrics = Mapping[str, Mapping[str, Any]]
"""Contents of metrics files, by name without folder and suffix."""


@dataclass(frozen=True)
class Estimate:
    """A number of a metrics file, and its interval and number of units where it has them."""

    value: float
    bounds: tuple[float, float] | None
    n: int | None


def place_of(file: str) -> str:
    """The path of a file that placeholders name."""
    return RETIRED if file == "retired" else f"{METRICS}/{file}.json"


def estimate_at(metrics: Metrics, file: str, path: str) -> Estimate:
    """The estimate at a path of a metrics file, or the number at a path that ends with one."""
    found = _at(metrics[file], path)
    if _is_number(found):
        return Estimate(float(found), None, None)
    place = place_of(file)
    if not isinstance(found, Mapping):
        raise BadInputError(
            place,
            path,
            f"there is no such metric, which {DECLARED} names.",
            "Name one that is there, or run `dvc repro` for the stage that writes it.",
        )
    value = next((each for key in VALUES if _is_number(each := found.get(key))), None)
    if value is None:
        raise BadInputError(
            place,
            path,
            f"is no estimate, and {DECLARED} names it as one.",
            "Name the path of an estimate, or of one of its numbers.",
        )
    low, high = found.get("ci_low"), found.get("ci_high")
    bounds = (float(low), float(high)) if _is_number(low) and _is_number(high) else None
    n = found.get("n", found.get("pairs"))
    return Estimate(float(value), bounds, round(n) if _is_number(n) else None)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(tree: object, path: str) -> Any:
    """What stands at a path of keys with dots between them; keys may have dots of their own."""
    if not isinstance(tree, Mapping):
        return None
    if path in tree:
        return tree[path]
    for key in sorted(tree, key=len, reverse=True):
        if path.startswith(f"{key}."):
            found = _at(tree[key], path[len(key) + 1 :])
            if found is not None:
                return found
    return None


def _share(estimate: Estimate) -> str:
    if estimate.bounds is None:
        return f"{percent(estimate.value)} %"
    return f"{with_interval(estimate.value, *estimate.bounds)} %"


def _points(estimate: Estimate) -> str:
    def form(value: float) -> str:
        return signed(100 * value)

    if estimate.bounds is None:
        return f"{form(estimate.value)} points"
    return f"{with_interval(estimate.value, *estimate.bounds, form)} points"


def _size(estimate: Estimate) -> str:
    if estimate.bounds is None:
        return f"{percent(estimate.value)} points"
    return f"{with_interval(estimate.value, *estimate.bounds)} points"


def _number(estimate: Estimate) -> str:
    if estimate.bounds is None:
        return two_decimals(estimate.value)
    return with_interval(estimate.value, *estimate.bounds, two_decimals)


FORMS: Final[Mapping[str | None, Callable[[Estimate], str]]] = {
    None: _share,
    "points": _points,
    "size": _size,
    "percent": lambda estimate: f"{percent(estimate.value)} %",
    "number": _number,
    "count": lambda estimate: str(round(estimate.value)),
}


def filled(text: str, metrics: Metrics) -> str:
    """A text with its placeholders replaced."""

    def written(placeholder: re.Match[str]) -> str:
        form = placeholder["form"]
        if form not in FORMS:
            raise BadInputError(
                DECLARED,
                placeholder.group(),
                f"{form!r} is no form of a number.",
                f"Use one of {', '.join(name for name in FORMS if name)}, or none.",
            )
        return FORMS[form](estimate_at(metrics, placeholder["file"], placeholder["path"]))

    return PLACEHOLDER.sub(written, text)


def estimates_in(text: str, metrics: Metrics) -> Iterator[Estimate]:
    """The estimates that a text names, in its order."""
    for placeholder in PLACEHOLDER.finditer(text):
        yield estimate_at(metrics, placeholder["file"], placeholder["path"])


def files_named(text: str) -> set[str]:
    """The metrics files that the placeholders of a text name."""
    return {placeholder["file"] for placeholder in PLACEHOLDER.finditer(text)}


def files_compared(condition: str) -> set[str]:
    """The metrics files that a condition names."""
    sides = _sides(condition, "(condition)")
    references = (REFERENCE.match(side) for side in (sides["left"], sides["right"]))
    return {reference["file"] for reference in references if reference is not None}


def unmet(condition: str, metrics: Metrics, entry: str) -> str | None:
    """Why a condition does not hold, or None where it does."""
    sides = _sides(condition, entry)
    left, right = (_number_of(sides[side], metrics, entry) for side in ("left", "right"))
    if COMPARED[sides["sign"]](left, right):
        return None
    return f"{condition} is not so, with {left:g} on the left and {right:g} on the right"


def _sides(condition: str, entry: str) -> re.Match[str]:
    sides = CONDITION.match(condition)
    if sides is None:
        raise BadInputError(
            DECLARED,
            f"entries.{entry}.holds",
            f"{condition!r} is no comparison.",
            "Write `file:path < number`, or another metric on the right.",
        )
    return sides


def _number_of(side: str, metrics: Metrics, entry: str) -> float:
    reference = REFERENCE.match(side)
    if reference is not None:
        return estimate_at(metrics, reference["file"], reference["path"]).value
    try:
        return float(side)
    except ValueError:
        raise BadInputError(
            DECLARED,
            f"entries.{entry}.holds",
            f"{side!r} is neither a number nor a metric.",
            "Write a number, or `file:path`.",
        ) from None
