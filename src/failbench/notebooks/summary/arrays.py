"""Arrays of numpy and tables of pandas."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, Final

from failbench.notebooks.summary.raw import (
    ITEMS,
    MANY,
    NAMES,
    UNIQUES,
    Entry,
    entry,
    inherits,
    label,
    library_type,
    module_of,
    name_of_class,
    primitive,
    value_of_float,
)

MOMENTS: Final = (
    *("Timestamp", "Timedelta", "Period", "Interval", "NaTType", "NAType"),
    *("date", "datetime", "time", "timedelta"),
)
"""Classes of single values of pandas and datetime, which are shown as text."""


def describers() -> dict[type, Callable[[Any], Entry]]:
    """What describes each type; without the libraries that were not imported."""
    known: dict[Any, Callable[[Any], Entry]] = {
        library_type("numpy", "ndarray"): array,
        library_type("numpy.ma", "MaskedArray"): array,
        library_type("pandas", "DataFrame"): frame,
        library_type("pandas", "Series"): series,
        library_type("numpy.lib.npyio", "NpzFile"): archive,
        library_type("numpy.random", "Generator"): lambda value: entry(of_class(value, "random")),
        library_type("numpy.random", "RandomState"): lambda value: entry(of_class(value, "random")),
    }
    for name in ("Index", "RangeIndex", "MultiIndex", "DatetimeIndex", "CategoricalIndex"):
        known[library_type("pandas", name)] = index
    known.pop(None, None)
    return known


def of_class(value: Any, kind: str, **more: Any) -> dict[str, Any]:
    """The beginning of every ``type``: the kind of object, and its class."""
    return {"kind": kind, "class": name_of_class(type(value)), **more}


def scalar(value: Any) -> Any:
    """A number, date or text of numpy or pandas as JSON has it; None if it is something else."""
    if inherits(type(value), library_type("numpy", "generic")):
        value = value.item()
    if module_of(type(value)).partition(".")[0] in ("pandas", "datetime"):
        return str(value) if name_of_class(type(value)).rpartition(".")[2] in MOMENTS else None
    return primitive(value)


def array(value: Any) -> Entry:
    """An array: shape, type of its elements, range, share of NaN and first unique values."""
    fields = list(value.dtype.names) if value.dtype.names else None
    structural = {"shape": list(value.shape), "fields": fields}
    details = {} if fields else values(value.reshape(-1)[:MANY])
    if value.ndim == 0 and not fields:
        details = {"value": scalar(value[()])}
    return entry(of_class(value, "array", dtype=str(value.dtype)), structural, details)


def values(flat: Any) -> dict[str, Any]:
    """What the values of a vector of numpy are.

    Returns
    -------
    dict
        ``range`` (lowest and highest number or date), ``nan_share``, ``inf_share``, ``distinct``
        (how many values there are) and ``uniques`` (the first of them in rising order).
    """
    numpy = sys.modules["numpy"]
    if flat.size == 0:
        return {}
    if flat.dtype.kind == "O":
        return objects(flat.tolist())
    if flat.dtype.kind in "SUV":
        unique = numpy.unique(flat) if flat.dtype.kind != "V" else flat[:0]
        return {
            "distinct": len(unique),
            "uniques": [scalar(each) for each in unique[:UNIQUES]],
        }
    if flat.dtype.kind in "fc":
        absent, infinite = numpy.isnan(flat), numpy.isinf(flat)
        shares = {"nan_share": value_of_float(float(absent.mean()))}
        if infinite.any():
            shares["inf_share"] = value_of_float(float(infinite.mean()))
        kept = flat[~absent]
    else:
        absent = numpy.isnat(flat) if flat.dtype.kind in "mM" else numpy.zeros(flat.shape, bool)
        shares = {"nan_share": value_of_float(float(absent.mean()))}
        kept = flat[~absent]
    if kept.size == 0 or flat.dtype.kind == "c":
        return shares
    unique = numpy.unique(kept)
    return shares | {
        "range": [scalar(unique[0]), scalar(unique[-1])],
        "distinct": len(unique),
        "uniques": [scalar(each) for each in unique[:UNIQUES]],
    }


def objects(elements: list[Any]) -> dict[str, Any]:
    """What a list of Python objects holds; those that are not plain count by type alone."""
    gaps = [each for each in elements if each is None or _is_nan(each) or _is_gap(each)]
    plain = {primitive(each) for each in elements if not _is_nan(each)} - {None}
    texts = sorted(plain, key=lambda each: (type(each).__name__, each))
    types = sorted({name_of_class(type(each)) for each in elements})
    return {
        "nan_share": value_of_float(len(gaps) / len(elements)),
        "element_types": types[:UNIQUES],
        "distinct": len(texts),
        "uniques": texts[:UNIQUES],
    }


def _is_nan(value: Any) -> bool:
    return type(value) is float and math.isnan(value)


def _is_gap(value: Any) -> bool:
    name = name_of_class(type(value))
    return name.startswith("pandas.") and name.endswith(("NAType", "NaTType"))


def frame(value: Any) -> Entry:
    """A table: shape, columns, their types, and the values of each column."""
    columns = list(value.columns)[:NAMES]
    kinds = {}
    contents = {}
    for place, column in enumerate(columns):
        name = str(label(column))
        kinds[name] = str(value.dtypes.iloc[place])
        contents[name] = column_values(value.iloc[:, place])
    structural = {
        "shape": list(value.shape),
        "columns": [label(column) for column in columns],
        **of_index(value.index),
    }
    kind = of_class(value, "frame", dtypes=kinds, index=str(value.index.dtype))
    return entry(kind, structural, {"by_column": contents})


def series(value: Any) -> Entry:
    """A column with its name and index."""
    structural = {"length": len(value), "name": label(value.name), **of_index(value.index)}
    kind = of_class(value, "series", dtype=str(value.dtype), index=str(value.index.dtype))
    return entry(kind, structural, column_values(value))


def index(value: Any) -> Entry:
    """An index with its first labels."""
    kind = of_class(value, "index", dtype=str(value.dtype))
    return entry(kind, {"length": len(value), **of_index(value)})


def of_index(labels: Any) -> dict[str, Any]:
    """Names of the levels of an index, its first and last labels, and whether each is there once.

    Whether they are unique is left out of an index of objects that would be asked to compare.
    """
    names = [label(name) for name in labels.names]
    ends = [label_of(each) for each in list(labels[:ITEMS]) + list(labels[-1:])]
    is_plain = str(labels.dtype) != "object" or all(_is_plain(each) for each in labels)
    return {
        "index_names": names if any(name is not None for name in names) else None,
        "index_labels": ends,
        "index_unique": bool(labels.is_unique) if is_plain else None,
    }


def _is_plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(_is_plain(part) for part in value)
    return value is None or scalar(value) is not None


def label_of(value: Any) -> Any:
    """A label of an index, which may be a number or a date of a library."""
    if type(value) is tuple:
        return [label_of(part) for part in value[:ITEMS]]
    known = scalar(value)
    return label(value) if known is None else known


def column_values(column: Any) -> dict[str, Any]:
    """What the values of a column are; see :func:`values`."""
    if len(column) == 0:
        return {}
    column = column.iloc[:MANY]
    if column.dtype.kind in "biufmM" and type(column.dtype).__module__.startswith("numpy"):
        return values(column.to_numpy())
    if type(column.dtype) is library_type("pandas", "CategoricalDtype"):
        column = column.astype(column.cat.categories.dtype)
    if column.dtype.kind in "biufmM":
        present = column.dropna()
        shares = {"nan_share": value_of_float(1 - len(present) / len(column))}
        if len(present) == 0:
            return shares
        unique = sorted(present.unique())
        return shares | {
            "range": [scalar(unique[0]), scalar(unique[-1])],
            "distinct": len(unique),
            "uniques": [scalar(each) for each in unique[:UNIQUES]],
        }
    return objects(column.tolist())


def archive(value: Any) -> Entry:
    """Arrays that are stored in one file, which is not read."""
    return entry(of_class(value, "archive"), {"keys": list(value.files)[:NAMES]})
