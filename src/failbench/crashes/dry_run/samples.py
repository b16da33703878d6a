"""Made-up data that an estimator is fitted to, as like those that it was fitted to as is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run import tables, values
from failbench.crashes.dry_run.needs import NotRebuiltError

Entry = dict[str, Any]

CONTENTS: Final = frozenset({"categories_", "vocabulary_", "transformers_"})
"""What some estimators learn that is the content of their data."""

CHANGES: Final = (1, -1, 2, -2)
"""How many categories more than a table that is told the one that was learnt from may have had."""


def sources(entry: Entry, told: dict[str, Entry]) -> Iterator[Entry | None]:
    """Tables that may be like the one that was learnt from: as told, without gaps, and so on.

    How much a later part of a pipeline takes tells how many categories there were in all.
    """
    names = _first(entry, "structural", "feature_names_in_")
    source = None if names is None else _source(names, told)
    yield source
    if names is None or source is None:
        return
    contents = source["value"]["by_column"]
    yield _with(source, {name: facts | {"nan_share": 0.0} for name, facts in contents.items()})
    for number in CHANGES if "items" in entry else ():
        for name in names:
            facts = contents.get(name, {})
            if facts.get("element_types") == ["str"] and facts["distinct"] + number > 0:
                yield _with(source, {name: facts | {"distinct": facts["distinct"] + number}})


def _with(source: Entry, changed: dict[str, Entry]) -> Entry:
    return source | {"value": {"by_column": source["value"]["by_column"] | changed}}


def samples(
    entry: Entry, told: dict[str, Entry], source: Entry | None, rows: int, rng: np.random.Generator
) -> tuple[Any, Any]:
    """A table or texts that an estimator takes, and of each row a number that depends on it."""
    import pandas as pd

    if _is_of_texts(entry):
        return _documents(entry, told, rows)
    features = _first(entry, "type", "n_features_in_") or _width(told)
    if features is None:
        raise NotRebuiltError("the number of its features is not told")
    names = _first(entry, "structural", "feature_names_in_")
    if names is not None and source is not None and len(names) == features:
        dtypes, contents = source["type"]["dtypes"], source["value"]["by_column"]
        made = {
            name: tables.column(contents.get(name, {}), dtypes[name], rows, rng) for name in names
        }
        table: Any = pd.DataFrame(made)
        numeric = table.select_dtypes("number").fillna(0.0).to_numpy()
        return table, numeric[:, 0] if numeric.shape[1] else np.arange(rows)
    if CONTENTS & set(_learnt(entry)):
        raise NotRebuiltError("the content of what it learnt is not told")
    table = rng.random((rows, features))
    signal = table[:, 0] if features else np.arange(rows)
    return (table if names is None else pd.DataFrame(table, columns=names)), signal


def _width(told: dict[str, Entry]) -> int | None:
    """How many columns all tables have that are told of, of which one is then asked about."""
    shapes = [entry.get("structural", {}).get("shape", ()) for entry in told.values()]
    widths = {shape[1] for shape in shapes if len(shape) == 2}
    return widths.pop() if len(widths) == 1 else None


def _is_of_texts(entry: Entry) -> bool:
    if entry["type"]["class"].endswith("Vectorizer"):
        return True
    steps = entry.get("structural", {}).get("steps", ())
    parts = entry.get("items", {})
    return bool(steps) and steps[0] in parts and _is_of_texts(parts[steps[0]])


def _documents(entry: Entry, told: dict[str, Entry], rows: int) -> tuple[Any, Any]:
    """Texts of as many words as a model has features, or those that are told."""
    models = [entry, *told.values()]
    sizes = {size for each in models if (size := _first(each, "type", "n_features_in_"))}
    if len(sizes) > 1:
        raise NotRebuiltError("how many words it learnt is not told")
    words = [f"word{values.letters(place)}" for place in range(sizes.pop())] if sizes else []
    words = words or [text for each in told.values() for text in _texts(each)] or ["word"]
    places = np.arange(rows)
    return [" ".join(words) if place % 2 else words[0] for place in places], places % 2


def _texts(entry: Entry) -> Iterator[str]:
    facts = entry.get("value", {})
    for each in [facts, *facts.get("by_column", {}).values()]:
        yield from (text for text in each.get("uniques", ()) if isinstance(text, str))


def _source(names: list[str], told: dict[str, Entry]) -> Entry | None:
    """A table of pandas that has columns of these names."""
    for entry in told.values():
        known = entry.get("type", {})
        is_table = known.get("class") == "pandas.DataFrame" and "value" in entry
        if is_table and set(names) <= set(known.get("dtypes", ())):
            return entry
    return None


def _first(entry: Entry, part: str, fact: str) -> Any:
    """A fact of an estimator, or of the first of its parts that has it."""
    if entry.get(part, {}).get(fact) is not None:
        return entry[part][fact]
    if entry.get("type", {}).get("kind") != "estimator":
        return None
    parts = parts_of(entry)
    return next((known for each in parts if (known := _first(each, part, fact)) is not None), None)


def parts_of(entry: Entry) -> list[Entry]:
    """What is told of parts, in the order in which data pass through them."""
    items = entry.get("items", {})
    steps = entry.get("structural", {}).get("steps", ())
    return [items[name] for name in dict.fromkeys([*steps, *items]) if name in items]


def _learnt(entry: Entry) -> Iterator[str]:
    yield from entry.get("structural", {}).get("learnt", ())
    for item in entry.get("items", {}).values():
        yield from _learnt(item)
