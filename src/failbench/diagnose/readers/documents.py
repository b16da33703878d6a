"""JSON documents: the state of a Trainer, an exported history, curves as lists."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from failbench.diagnose.readers.log import Log, Source
from failbench.diagnose.readers.names import Meaning, meaning
from failbench.diagnose.readers.numbers import number
from failbench.diagnose.readers.rows import Rows

LARGEST: Final = 256 * 2**20
"""Bytes of a document that is read whole."""

MOST_VALUES: Final = 10_000_000
"""Values of a document that is read: each takes some 70 to 200 bytes of memory, however short."""

_WRAPPERS: Final = ("log_history", "history", "metrics", "logs", "data")
"""Keys under which documents keep what was measured; the first is the Trainer's."""


def read_document(name: str, text: str) -> Log | None:
    """Read a document of records or of curves; None if it is neither, or too large.

    Records are a list of objects, by itself or under a key, as in ``trainer_state.json``. Curves
    are lists of equal length under the names of what they hold. A bare ``NaN`` is read as one.
    """
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    rows = Rows()
    for record in _records(document):
        _add(rows, record)
    table = rows.table()
    if table.is_empty():
        return None
    read_as = "trainer_state" if _is_trainer_state(document) else "JSON document"
    return Log((Source(name, read_as, text.count("\n") + 1),), table, ())


def _is_trainer_state(document: object) -> bool:
    return isinstance(document, dict) and "log_history" in document


def _records(document: object) -> Iterator[Mapping[str, object]]:
    """The objects of a document, one for each time of measurement."""
    if isinstance(document, list):
        yield from (record for record in document if isinstance(record, dict))
    elif isinstance(document, dict):
        inner = next((document[key] for key in _WRAPPERS if key in document), document)
        if isinstance(inner, list):
            yield from (record for record in inner if isinstance(record, dict))
        elif isinstance(inner, dict):
            yield from _of_curves(inner)


def _of_curves(curves: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The records of curves, each cut to the length of its list."""
    lists: dict[str, Sequence[object]] = {
        name: values for name, values in curves.items() if isinstance(values, list)
    }
    for position in range(max(map(len, lists.values()), default=0)):
        yield {name: values[position] for name, values in lists.items() if position < len(values)}


def _add(rows: Rows, record: Mapping[str, object]) -> None:
    """Add what a record measures; its position among the lines is not known."""
    values: list[tuple[Meaning, float]] = []
    for name, value in record.items():
        found = meaning(str(name)) or meaning(str(name).removesuffix("s"))
        logged = _number(value)
        if found is not None and logged is not None:
            values.append((found, logged))
    rows.add(None, values)


def _number(value: object) -> float | None:
    if isinstance(value, str):
        return number(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return None
