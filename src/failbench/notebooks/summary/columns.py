"""Tables of polars, which have no index, and tell a gap from a number that is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from failbench.notebooks.summary.arrays import objects, of_class, values
from failbench.notebooks.summary.raw import (
    MANY,
    NAMES,
    UNIQUES,
    Entry,
    entry,
    library_type,
    value_of_float,
)


def describers() -> dict[type, Callable[[Any], Entry]]:
    """What describes each type; none if polars was not imported."""
    known: dict[Any, Callable[[Any], Entry]] = {
        library_type("polars", "DataFrame"): frame,
        library_type("polars", "LazyFrame"): lazy,
        library_type("polars", "Series"): series,
    }
    known.pop(None, None)
    return known


def frame(value: Any) -> Entry:
    """A table: shape, columns, their types, and the values of each column."""
    columns = value.columns[:NAMES]
    kinds = {name: str(value.schema[name]) for name in columns}
    contents = {name: _values(value.get_column(name)) for name in columns}
    structural = {"shape": list(value.shape), "columns": columns}
    return entry(of_class(value, "frame", dtypes=kinds), structural, {"by_column": contents})


def lazy(value: Any) -> Entry:
    """A plan of a table: what its columns will be, as far as that is known without its rows."""
    schema = value.collect_schema()
    columns = list(schema)[:NAMES]
    kinds = {name: str(schema[name]) for name in columns}
    return entry(of_class(value, "lazy_frame", dtypes=kinds), {"columns": columns})


def series(value: Any) -> Entry:
    """A column with its name."""
    kind = of_class(value, "series", dtype=str(value.dtype))
    return entry(kind, {"length": len(value), "name": value.name}, _values(value))


def _values(column: Any) -> dict[str, Any]:
    """What the values of a column are, as of an array, and the share of gaps."""
    column = column.head(MANY)
    gaps = {"null_share": value_of_float(column.null_count() / len(column))} if len(column) else {}
    kept = column.drop_nulls()
    if column.dtype.is_nested():
        lengths = kept.list.len() if str(column.dtype).startswith("List") else kept.head(0)
        return gaps | ({"lengths": [lengths.min(), lengths.max()]} if len(lengths) else {})
    if str(column.dtype).startswith(("Categorical", "Enum")):
        kept = kept.cast(library_type("polars", "String"))
    if kept.dtype.is_numeric() and not kept.dtype.is_decimal():
        return gaps | values(kept.to_numpy())
    if kept.dtype.is_temporal() or kept.dtype.is_decimal():
        unique = kept.unique().sort()
        told = [str(each) for each in unique.head(UNIQUES)]
        ends = {"range": [told[0], str(unique[-1])]} if told else {}
        return gaps | ends | {"distinct": len(unique), "uniques": told}
    return gaps | (objects(kept.to_list()) if len(kept) else {})
