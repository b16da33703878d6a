"""Values that agree with what a summary says of those of an array or column."""

from __future__ import annotations

import calendar
import itertools
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run.needs import NotRebuiltError

Facts = dict[str, Any]

GAPS: Final = ("NoneType", "pandas.NAType", "pandas.NaTType", "float")
PLAIN: Final = ("str", "int", "float", "bool")

SEEN: Final = 3
"""Values from which on a grid shows."""

STEPS: Final = (("%S", 61), ("%M", 60), ("%d", 86_400), ("%Y", 31 * 86_400), ("%y", 31 * 86_400))
"""Seconds between made-up dates by the smallest part that a format shows."""


def number(value: Any) -> float | int:
    """A number of a summary, where those that are not finite are words."""
    return float(value) if isinstance(value, str) else value


def numbers(facts: Facts, size: int, rng: np.random.Generator, *, whole: bool) -> list[Any]:
    """Numbers with the range, the first unique ones, as many distinct ones and the gaps as told.

    Parameters
    ----------
    facts
        ``range``, ``uniques``, ``distinct``, ``nan_share`` and ``inf_share``, any of which may be
        missing.
    size
        How many.
    whole
        Whether they are integers.

    Returns
    -------
    list
        Of int or float, in random order; in rising order if each is there once and they are evenly
        spaced, as positions and grids are.
    """
    gaps = round(size * float(facts.get("nan_share", 0.0)))
    if whole:
        gaps = 0
    ends = [number(end) for end in facts.get("range", ())]
    infinities = [end for end in ends if not np.isfinite(end)]
    infinite = min(max(round(size * number(facts.get("inf_share", 0.0))), len(infinities)), size)
    infinite = infinite if infinities else 0
    pool = _pool(facts, ends, whole=whole)
    if len(pool) == size and _is_even(facts, pool):
        return pool
    count = max(size - gaps - infinite, 0)
    if pool:
        finite = _each_once(pool, count, rng)
    else:
        drawn = rng.integers(0, 10, count) if whole else rng.normal(size=count)
        finite = drawn.tolist()
    values = finite + [float("nan")] * gaps
    values += [infinities[place % len(infinities)] for place in range(infinite)]
    return [values[place] for place in rng.permutation(len(values))][:size]


def _pool(facts: Facts, ends: list[Any], *, whole: bool) -> list[Any]:
    """The distinct finite values: those that are told, and others up to the highest."""
    told = [number(value) for value in facts.get("uniques", ())]
    known = sorted({value for value in told if np.isfinite(value)})
    if not known:
        known = [end for end in ends[:1] if np.isfinite(end)]
    if not known:
        return []
    high = ends[1] if len(ends) == 2 and np.isfinite(ends[1]) else known[-1]
    distinct = int(facts.get("distinct", len(known)))
    more = distinct - len(known) - sum(not np.isfinite(end) for end in set(ends))
    if more <= 0 or high <= known[-1]:
        return known
    step = (high - known[-1]) / more
    is_whole = whole or all(float(value).is_integer() for value in (*known, high))
    others: list[Any] = [known[-1] + step * (place + 1) for place in range(more - 1)]
    if is_whole and step >= 1:
        others = [round(value) if whole else float(round(value)) for value in others]
    elif whole:
        others = list(range(int(known[-1]) + 1, int(high)))[: more - 1]
    return [*known, *others, high]


def _is_even(facts: Facts, pool: list[Any]) -> bool:
    """Whether the first values that are told, and the highest, are those of an even grid."""
    first = [number(value) for value in facts.get("uniques", ())]
    if len(first) < SEEN or not all(np.isfinite(first)):
        return False
    grid = np.linspace(pool[0], pool[-1], len(pool))
    return bool(np.allclose(grid[: len(first)], first, rtol=1e-5, atol=1e-5 * abs(pool[-1])))


def _each_once(pool: list[Any], count: int, rng: np.random.Generator) -> list[Any]:
    """Draw from a pool so that each value is there if there is room."""
    if count < len(pool):
        return [pool[place] for place in np.sort(rng.permutation(len(pool))[:count])]
    more = rng.integers(0, len(pool), count - len(pool))
    return pool + [pool[place] for place in more]


def texts(facts: Facts, size: int, rng: np.random.Generator) -> list[str]:
    """Texts of which the first in rising order are told; the others are made after the last."""
    known = [str(value) for value in facts.get("uniques", ())] or ["a"]
    distinct = max(int(facts.get("distinct", len(known))), 1)
    pool = known[:distinct] + more_texts(known, distinct - len(known))
    return [str(each) for each in rng.permutation(np.array(_each_once(pool, size, rng), object))]


def more_texts(known: list[str], count: int) -> list[str]:
    """Texts of the pattern of known ones: dates after dates, numbers after numbers, else words."""
    if count <= 0:
        return []
    formats = [form for form in date_formats() if all(_moment(text, form) for text in known)]
    if formats:
        return _more_dates(known, formats, count)
    others = (text for text in _following(known) if text not in known)
    return list(itertools.islice(others, count))


def _following(known: list[str]) -> Iterator[str]:
    last = known[-1]
    for names in (calendar.day_name, calendar.day_abbr, calendar.month_name, calendar.month_abbr):
        if set(known) <= set(names):
            yield from filter(None, names)
    if all(re.fullmatch(r"-?\d*\.?\d+", text) for text in known) and "." in "".join(known):
        yield from (f"{float(last) + place:g}" for place in itertools.count(1))
    digits = list(re.finditer(r"\d+", last))
    if digits:
        start, end = digits[-1].span()
        first, width = int(last[start:end]) + 1, end - start
        for place in itertools.count(first):
            yield f"{last[:start]}{place:0{width}d}{last[end:]}"
    yield from (last + letters(place) for place in itertools.count())


def letters(place: int) -> str:
    """Letters that count: a to z, then aa to az, and so on."""
    head, tail = divmod(place, 26)
    return (letters(head - 1) if head else "") + chr(ord("a") + tail)


@cache
def date_formats() -> tuple[str, ...]:
    """Formats of dates and times that are told as text."""
    text = files(__package__).joinpath("data/dates.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def _moment(text: str, form: str) -> datetime | None:
    try:
        moment = datetime.strptime(text, form)  # noqa: DTZ007 - a zone is never told
    except ValueError:
        return None
    return moment if moment.strftime(form) == text else None


def _more_dates(known: list[str], formats: list[str], count: int) -> list[str]:
    """Further dates that are right in every format that they may have; some tell not which."""
    form = formats[0]
    step = timedelta(seconds=next((size for part, size in STEPS if part in form), 86_400))
    moment = max(moment for text in known if (moment := _moment(text, form)))
    made: dict[str, None] = {}
    for _ in range(8 * count):
        moment += step
        text = moment.strftime(form)
        if len(made) < count and text not in known and all(_moment(text, each) for each in formats):
            made[text] = None
    return list(made) + [known[place % len(known)] for place in range(count - len(made))]


def objects(
    facts: Facts, size: int, rng: np.random.Generator, unknown: Callable[[], Any] | None = None
) -> list[Any]:
    """Python's plain objects, with gaps."""
    types = list(facts.get("element_types", ()))
    if types == ["datetime.date"]:
        return [date(2024, 1, 1) + timedelta(days=place) for place in range(size)]
    for name in types:
        if name not in (*PLAIN, *GAPS):
            if unknown is None:
                raise NotRebuiltError(f"it holds objects of the class {name}")
            return [unknown() for _ in range(size)]
    uniques = list(facts.get("uniques", ()))
    gaps = round(size * float(facts.get("nan_share", 0.0)))
    filled = size - gaps
    if gaps and not any(name in types for name in GAPS):
        raise NotRebuiltError("of its gaps the class is not told")
    gap = gap_of(types)
    if filled and not uniques:
        raise NotRebuiltError("of what it holds nothing is told")
    if all(isinstance(value, str) for value in uniques):
        values: list[Any] = texts(facts, filled, rng) if filled else []
    else:
        distinct = int(facts.get("distinct", len(uniques)))
        text = [value for value in uniques if isinstance(value, str)]
        others = [value for value in uniques if not isinstance(value, str)]
        top = max(others) if others else 0
        more = distinct - len(uniques)
        made = more_texts(text, more) if text else [top + place + 1 for place in range(more)]
        values = _each_once(uniques + made, filled, rng)
    values = values + [gap] * gaps
    return [values[place] for place in rng.permutation(len(values))]


def gap_of(types: list[str]) -> Any:
    """What stands for an absent value among objects of classes."""
    if "NoneType" in types:
        return None
    if "pandas.NAType" in types or "pandas.NaTType" in types:
        import pandas as pd

        return pd.NA if "pandas.NAType" in types else pd.NaT
    return float("nan")


def array(
    facts: Facts,
    dtype: np.dtype[Any],
    size: int,
    rng: np.random.Generator,
    unknown: Callable[[], Any] | None = None,
) -> Any:
    """A vector of numpy."""
    kind = dtype.kind
    if dtype.names:
        return np.array([_record(dtype, rng) for _ in range(size)], dtype)
    if kind in "iu":
        return np.array(numbers(facts, size, rng, whole=True), dtype=object).astype(dtype)
    if kind == "f":
        return np.array(numbers(facts, size, rng, whole=False), dtype=float).astype(dtype)
    if kind == "b":
        return np.array(numbers(facts, size, rng, whole=True), dtype=bool)
    if kind == "c":
        return (rng.normal(size=size) + 1j * rng.normal(size=size)).astype(dtype)
    if kind in "US":
        return np.array(texts(facts, size, rng), dtype)
    if kind in "mM":
        return _moments(facts, dtype, size, rng)
    if kind == "O":
        vector = np.empty(size, object)
        vector[:] = objects(facts, size, rng, unknown)
        return vector
    raise NotRebuiltError(f"nothing of the type {dtype} is made")


def _record(dtype: np.dtype[Any], rng: np.random.Generator) -> tuple[Any, ...]:
    assert dtype.names is not None
    return tuple(array({}, dtype[name], 1, rng)[0] for name in dtype.names)


def _moments(facts: Facts, dtype: np.dtype[Any], size: int, rng: np.random.Generator) -> Any:
    unit = np.datetime_data(dtype)[0]
    code = f"{dtype.kind}8[{unit}]"
    told = {
        name: [moment(value, code) for value in facts[name]]
        for name in ("range", "uniques")
        if name in facts
    }
    drawn = numbers(facts | told, size, rng, whole=False)
    values = [np.iinfo(np.int64).min if np.isnan(value) else round(value) for value in drawn]
    return np.array(values, np.int64).view(code).astype(dtype)


def moment(value: Any, code: str) -> int:
    """A date or duration, which a summary has as text or as a number, as a count of its unit."""
    if isinstance(value, str) and code.startswith("m"):
        import pandas as pd

        return int(pd.Timedelta(value).to_timedelta64().astype(code).astype(np.int64))
    return int(np.array([value], code).view(np.int64)[0])
