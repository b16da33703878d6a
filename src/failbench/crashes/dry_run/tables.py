"""Tables of pandas: columns, indices, series and frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from failbench.crashes.dry_run import values
from failbench.crashes.dry_run.arrange import crossing
from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.crashes.dry_run.plain import check_size

Entry = dict[str, Any]
Facts = dict[str, Any]

SPANS: Final = 5
START: Final = "2024-01-01"
"""Of spans of time and of numbers, of which no value is told: how many there are, and the first."""


def column(
    facts: Facts,
    dtype: str,
    size: int,
    rng: np.random.Generator,
    unknown: Callable[[], Any] | None = None,
) -> Any:
    """A column with the default index; dates are in rising order, as they are noted."""
    if size == 0:
        return pd.Series([], dtype=dtype)
    if "pandas.Interval" in facts.get("element_types", ()):
        made = pd.IntervalIndex.from_breaks(np.arange(SPANS + 1.0))[np.arange(size) % SPANS]
        return pd.Series(pd.Categorical(made) if dtype == "category" else made)
    if dtype == "category":
        return pd.Series(pd.Categorical(_plain(facts, size, rng)))
    if dtype == "object":
        return pd.Series(values.objects(facts, size, rng, unknown), dtype=object)
    try:
        known = pd.api.types.pandas_dtype(dtype)
    except TypeError as error:
        raise NotRebuiltError(f"{dtype} is no type of pandas") from error
    if isinstance(known, pd.PeriodDtype):
        spans = pd.period_range(START, periods=SPANS, freq=known.freq)
        return pd.Series(spans[np.arange(size) * SPANS // size])
    if isinstance(known, np.dtype):
        return _risen(pd.Series(values.array(facts, known, size, rng)))
    if isinstance(known, pd.StringDtype):
        return pd.Series(_plain(facts, size, rng), dtype=known)
    if isinstance(known, pd.DatetimeTZDtype):
        naive = {
            name: [str(pd.Timestamp(each).tz_convert("UTC").tz_localize(None)) for each in told]
            for name, told in facts.items()
            if name in ("range", "uniques")
        }
        drawn = values.array(facts | naive, np.dtype(f"M8[{known.unit}]"), size, rng)
        return _risen(pd.Series(drawn).dt.tz_localize("UTC").astype(known))
    if known.kind in "biuf":
        whole = known.kind in "iub"
        gaps = round(size * float(facts.get("nan_share", 0.0)))
        shown = {name: each for name, each in facts.items() if name != "nan_share"}
        drawn = values.numbers(shown, size - gaps, rng, whole=whole)
        cells = [bool(each) if known.kind == "b" else each for each in drawn] + [pd.NA] * gaps
        return pd.Series([cells[place] for place in rng.permutation(size)], dtype=known)
    raise NotRebuiltError(f"nothing of the type {dtype} is made")


def _risen(drawn: Any) -> Any:
    """Dates in rising order, with gaps where they were."""
    if drawn.dtype.kind == "M":
        filled = drawn.notna()
        drawn[filled] = drawn[filled].sort_values().to_numpy()
    return drawn


def _plain(facts: Facts, size: int, rng: np.random.Generator) -> list[Any]:
    if "range" in facts:
        shown = [each for each in facts.get("uniques", ()) if not isinstance(each, bool)]
        if any(isinstance(each, str) for each in shown):
            raise NotRebuiltError("categories that are dates are not made")
        whole = all(isinstance(each, int) for each in shown)
        gaps = round(size * float(facts.get("nan_share", 0.0)))
        told = {name: each for name, each in facts.items() if name != "nan_share"}
        drawn = values.numbers(told, size - gaps, rng, whole=whole) + [None] * gaps
        return [drawn[place] for place in rng.permutation(size)]
    types = [name for name in facts.get("element_types", ()) if not name.startswith("pandas.")]
    if float(facts.get("nan_share", 0.0)) > 0 and not {"NoneType", "float"} & set(types):
        types.append("NoneType")
    return values.objects(facts | {"element_types": types}, size, rng)


def frame(entry: Entry, rng: np.random.Generator, unknown: Callable[[], Any] | None = None) -> Any:
    """A table; columns that are keys together have each combination of values once."""
    rows, width = entry["structural"]["shape"]
    labels = [_label(each) for each in entry["structural"]["columns"]]
    check_size((rows, max(width, 1)), 8)
    dtypes, contents = entry["type"]["dtypes"], entry["value"]["by_column"]
    made = []
    for shown in entry["structural"]["columns"]:
        name = str(shown)
        made.append(column(contents.get(name, {}), dtypes[name], rows, rng, unknown))
    _cross(made, [contents.get(str(shown), {}) for shown in entry["structural"]["columns"]], rows)
    if len(labels) < width:  # of a wide table, the columns beyond those that are told
        labels += [f"column_{place}" for place in range(len(labels), width)]
        made += [made[place % len(made)] for place in range(width - len(made))]
    if made:
        table = pd.concat(made, axis=1, keys=range(len(made)))
    else:
        table = pd.DataFrame(index=range(rows))
    is_deep = bool(labels) and all(isinstance(label, tuple) for label in labels)
    table.columns = pd.MultiIndex.from_tuples(labels) if is_deep else pd.Index(labels)
    table.index = index(entry["structural"], entry["type"]["index"], rows)
    return table


def _cross(made: list[Any], contents: list[Facts], rows: int) -> None:
    """Put the values of columns that are keys together in the order of their combinations."""
    keys = {
        place: contents[place]
        for place, column in enumerate(made)
        if rows and column.dtype.kind in "OiuMb" and not column.isna().any()
        if all(kind == "str" for kind in contents[place].get("element_types", ()))
    }
    for place, order in crossing(keys, rows).items():
        known = made[place].drop_duplicates().sort_values()
        if len(known) > order.max():
            made[place] = known.iloc[order].reset_index(drop=True)


def series(entry: Entry, rng: np.random.Generator, unknown: Callable[[], Any] | None = None) -> Any:
    """A column with its name and index."""
    structural = entry["structural"]
    size = int(structural["length"])
    check_size((size,), 8)
    made = column(entry.get("value", {}), entry["type"]["dtype"], size, rng, unknown)
    made.index = index(structural, entry["type"]["index"], size)
    made.name = _label(structural.get("name"))
    return made


def index(structural: Facts, dtype: str, size: int) -> Any:
    """An index with the labels that are told, first and last, and others between.

    Raises
    ------
    NotRebuiltError
        If nothing of this type is made.
    """
    told = [_label(each) for each in structural.get("index_labels", ())]
    names = structural.get("index_names")
    unique = structural.get("index_unique", True)
    if size and not told:
        raise NotRebuiltError("of its index no label is told")
    if told and isinstance(told[0], tuple):
        return _deep_index(told, size, names, unique=unique)
    if names is not None and len(names) > 1:
        return pd.MultiIndex.from_arrays([[] for _ in names], names=names)
    made = _flat_index(told, dtype, size, unique=unique)
    if names is not None:
        made.name = _label(names[0])
    return made


def _flat_index(told: list[Any], dtype: str, size: int, *, unique: bool) -> Any:
    if size == 0:
        return pd.Index([], dtype=dtype)
    first, last = told[:-1][:size], told[-1]
    if dtype.startswith(("datetime64", "timedelta64")):
        return _moments(first, last, dtype, size, unique=unique)
    if all(isinstance(label, int) and not isinstance(label, bool) for label in told):
        step = first[1] - first[0] if len(first) > 1 else 1
        regular = range(first[0], first[0] + step * size, step) if step else range(0)
        if size == len(regular) and dtype == "int64" and _begins(regular, first, last):
            return pd.RangeIndex(regular)
        return pd.Index(_between(first, last, size, unique=unique), dtype=dtype)
    if all(isinstance(label, (int, float)) for label in told):
        made = _between([float(each) for each in first], float(last), size, unique=unique)
        return pd.Index(made, dtype=dtype)
    if all(isinstance(label, str) for label in told):
        more = max(size - len(first) - 1, 0)
        others = values.more_texts([last, *first], more) if unique else [first[0]] * more
        return pd.Index([*(first + others + [last])[: size - 1], last], dtype=dtype)
    if size < len(told):
        return pd.Index(first, dtype=dtype)
    raise NotRebuiltError(f"no index of the type {dtype} is made of what is told")


def _begins(regular: range, first: list[Any], last: Any) -> bool:
    return list(regular[: len(first)]) == first and regular[-1] == last


def _between(first: list[Any], last: Any, size: int, *, unique: bool) -> list[Any]:
    """Numbers that begin and end as told; what lies between rises beyond what is told."""
    if size <= len(first):
        return first
    more = size - len(first) - 1
    if not unique:
        return first + [first[0]] * more + [last]
    known = {*first, last}
    others: list[Any] = []
    candidate = min(known)
    while len(others) < more:
        candidate += 1
        if candidate not in known:
            others.append(candidate)
    return [*first, *others, last]


def _moments(first: list[Any], last: Any, dtype: str, size: int, *, unique: bool) -> Any:
    kind: Any = pd.DatetimeIndex if dtype.startswith("datetime64") else pd.TimedeltaIndex
    known = kind(first)
    if size <= len(first):
        return known.astype(dtype)
    end = kind([last])
    if not unique:
        made = known.append(known[:1].repeat(size - len(first) - 1)).append(end)
        return made.astype(dtype)
    step = known[1] - known[0] if len(known) > 1 else end[0] - known[0]
    regular = known[0] + step * np.arange(size)
    if regular[-1] == end[0] and (regular[: len(known)] == known).all():
        return kind(regular, freq="infer").astype(dtype)
    gap = (end[0] - known[-1]) / (size - len(first))
    between = known[-1] + gap * np.arange(1, size - len(first))
    return known.append(kind(between)).append(end).astype(dtype)


def _deep_index(told: list[Any], size: int, names: Any, *, unique: bool) -> Any:
    """An index of several levels: made labels differ from one another in every level."""
    first, last = told[:-1][:size], told[-1]
    more = max(size - len(first) - 1, 0)
    rows = list(first)
    for place in range(more):
        if unique:
            source = first[place % len(first)]
            rows.append(tuple(_shifted(part, place + 1) for part in source))
        else:
            rows.append(first[0])
    if len(rows) < size:
        rows.append(last)
    return pd.MultiIndex.from_tuples(rows, names=names)


def _shifted(part: Any, place: int) -> Any:
    if isinstance(part, (int, float)) and not isinstance(part, bool):
        return part + place * 1_000_003
    return f"{part}_{place}"


def _label(shown: Any) -> Any:
    """A label as it was, from how JSON has it."""
    if isinstance(shown, list):
        return tuple(_label(part) for part in shown)
    if isinstance(shown, str) and shown.startswith("<") and shown.endswith(">"):
        raise NotRebuiltError("of a label no more than the class is told")
    return shown


def whole_index(entry: Entry) -> Any:
    """An index that is an object of its own."""
    structural = entry["structural"]
    return index(structural, entry["type"]["dtype"], int(structural["length"]))
