"""Tables of polars: columns, series, frames and lazy frames."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pandas as pd

from failbench.crashes.dry_run import values
from failbench.crashes.dry_run.arrange import crossing
from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.crashes.dry_run.plain import check_size

Entry = dict[str, Any]
Facts = dict[str, Any]

LAZY: int = 60
"""Rows of a lazy frame, of which no number is told."""


def dtype_of(shown: str) -> Any:
    """A type of polars from how it is shown."""
    try:
        return _dtype(ast.parse(shown, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, AttributeError) as error:
        raise NotRebuiltError(f"{shown} is no type of polars") from error


def _dtype(node: ast.expr) -> Any:
    import polars as pl

    if isinstance(node, ast.Name):
        cls = getattr(pl, node.id)
        if not issubclass(cls, pl.DataType):
            raise ValueError(node.id)
        return cls
    if isinstance(node, ast.Call):
        named = {str(each.arg): _dtype(each.value) for each in node.keywords}
        return _dtype(node.func)(*map(_dtype, node.args), **named)
    if isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_dtype, node.values), strict=True))
    return ast.literal_eval(node)


def column(facts: Facts, dtype: Any, size: int, rng: np.random.Generator) -> Any:
    """A series without a name; dates are in rising order, as they are noted."""
    import polars as pl

    gaps = round(size * float(facts.get("null_share", 0.0)))
    is_text = dtype in (pl.String, pl.Categorical)
    if dtype == pl.Null or (is_text and not facts.get("uniques")):
        gaps = size
    filled = _filled(facts, dtype, size - gaps, rng) if size > gaps else []
    made = pl.Series(filled, dtype=dtype) if len(filled) else pl.Series([], dtype=dtype)
    places: list[int | None] = [None] * size
    for place, row in enumerate(np.sort(rng.permutation(size)[: size - gaps])):
        places[int(row)] = place
    return made.gather(pl.Series(places, dtype=pl.UInt32)) if gaps else made


def _filled(facts: Facts, dtype: Any, size: int, rng: np.random.Generator) -> Any:
    import polars as pl

    if dtype in (pl.List, pl.Array):
        low, high = facts.get("lengths", (1, 1)) if dtype == pl.List else (dtype.size, dtype.size)
        sizes = rng.permutation([*([low, high] * size)[:size]]).tolist()
        inner = column({}, dtype.inner, sum(sizes), rng)
        ends = np.cumsum(sizes)
        return [inner[int(end - each) : int(end)] for each, end in zip(sizes, ends, strict=True)]
    if dtype == pl.Struct:
        parts = [column({}, part.dtype, size, rng).alias(part.name) for part in dtype.fields]
        return pl.DataFrame(parts).to_struct().to_list()
    if dtype == pl.Boolean:
        return [bool(each) for each in values.numbers(facts, size, rng, whole=True)]
    if dtype.is_integer() or dtype.is_float():
        return values.numbers(facts, size, rng, whole=dtype.is_integer())
    if dtype == pl.Decimal:
        told = {name: _each(facts.get(name, ()), float) for name in ("range", "uniques")}
        drawn = values.numbers(facts | told, size, rng, whole=False)
        return pl.Series([f"{each:.{dtype.scale}f}" for each in drawn]).cast(dtype)
    if dtype.is_temporal():
        return _moments(facts, dtype, size, rng)
    if dtype in (pl.String, pl.Categorical):
        return values.texts(facts, size, rng)
    if dtype == pl.Enum:
        known = dtype.categories.to_list()  # which are told whole, in the type
        return [known[place % len(known)] for place in rng.permutation(size)]
    raise NotRebuiltError(f"nothing of the type {dtype} is made")


def _each(told: Any, make: Any) -> list[Any]:
    return [make(each) for each in told]


def _moments(facts: Facts, dtype: Any, size: int, rng: np.random.Generator) -> Any:
    import polars as pl

    is_time, is_span = dtype == pl.Time, dtype == pl.Duration
    told = {
        name: [_plain_moment(each, is_time=is_time, is_span=is_span) for each in facts[name]]
        for name in ("range", "uniques")
        if name in facts
    }
    unit = "D" if dtype == pl.Date else getattr(dtype, "time_unit", None) or "us"
    drawn = values.array(facts | told, np.dtype(f"{'m' if is_span else 'M'}8[{unit}]"), size, rng)
    made = pl.Series(np.sort(drawn))
    if is_time:
        return made.dt.time()
    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        made = made.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return made.cast(dtype)


def _plain_moment(shown: str, *, is_time: bool, is_span: bool) -> str:
    if is_span:
        return shown
    moment = pd.Timestamp(f"1970-01-01 {shown}" if is_time else shown)
    return str(moment.tz_convert("UTC").tz_localize(None) if moment.tz is not None else moment)


def frame(entry: Entry, rng: np.random.Generator) -> Any:
    """A table; columns that are keys together have each combination of values once."""
    import polars as pl

    rows, width = entry["structural"]["shape"]
    names = entry["structural"]["columns"]
    check_size((rows, max(width, 1)), 8)
    if len(names) < width:
        raise NotRebuiltError("of its columns not all are told")
    contents = entry["value"]["by_column"]
    made = [
        column(contents.get(name, {}), dtype_of(entry["type"]["dtypes"][name]), rows, rng)
        for name in names
    ]
    keys = {
        place: contents[names[place]]
        for place, each in enumerate(made)
        if rows and not each.dtype.is_float() and not each.dtype.is_nested()
        if not each.null_count()
    }
    for place, order in crossing(keys, rows).items():
        known = made[place].unique().sort()
        if len(known) > order.max():
            made[place] = known.gather(order)
    return pl.DataFrame([each.alias(name) for each, name in zip(made, names, strict=True)])


def lazy(entry: Entry, rng: np.random.Generator) -> Any:
    """A plan of a table, of whose values nothing is told."""
    import polars as pl

    names = entry["structural"]["columns"]
    dtypes = entry["type"]["dtypes"]
    made = [column({}, dtype_of(dtypes[name]), LAZY, rng).alias(name) for name in names]
    return pl.DataFrame(made).lazy()


def series(entry: Entry, rng: np.random.Generator) -> Any:
    """A column with its name."""
    size = int(entry["structural"]["length"])
    check_size((size,), 8)
    made = column(entry.get("value", {}), dtype_of(entry["type"]["dtype"]), size, rng)
    return made.alias(entry["structural"].get("name", ""))
