"""Rows in the making: named values of one line or record, gathered into a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import polars as pl

from failbench.diagnose.readers.log import ROW_SCHEMA
from failbench.diagnose.readers.names import Meaning, Split, meaning
from failbench.diagnose.readers.numbers import whole_number

_BLOCK: Final = 50_000
"""Rows that are held as Python's numbers before they become a table, which bounds memory."""

_POSITIONS: Final = {name: position for position, name in enumerate(ROW_SCHEMA)}
_STEP, _EPOCH, _SPLIT = (_POSITIONS[name] for name in ("step", "epoch", "split"))


class Rows:
    """Gathers the measurements of one source.

    A line that says a step or an epoch and measures nothing speaks of the lines after it, as the
    headings of Keras and Composer do.
    """

    def __init__(self) -> None:
        self._rows: list[list[object]] = []
        self._blocks: list[pl.DataFrame] = []
        self._step: int | None = None
        self._epoch: float | None = None

    def add_named(
        self, line: int, values: Iterable[tuple[str, float]], split: Split | None = None
    ) -> bool:
        """Add values by the names that a record gives them; False if none is one that is read."""
        known = [(found, value) for name, value in values if (found := meaning(name)) is not None]
        return self.add(line, known, split)

    def add(
        self, line: int | None, values: Iterable[tuple[Meaning, float]], split: Split | None = None
    ) -> bool:
        """Add what was measured at one time, a row for each split."""
        step: int | None = None
        epoch: float | None = None
        rows: dict[Split, list[object]] = {}
        for found, value in values:
            if found.of == "step":
                step = whole_number(value) if step is None else step
            elif found.of == "epoch":
                epoch = value if epoch is None else epoch
            else:
                own = found.split or split or "train"
                row = rows.get(own)
                if row is None:
                    row = rows[own] = [None] * len(_POSITIONS)
                    row[0], row[1], row[_SPLIT] = 0, line, own
                if row[_POSITIONS[found.of]] is None:
                    row[_POSITIONS[found.of]] = value
        if not rows:
            if step is not None or epoch is not None:
                self._step, self._epoch = step, epoch
            return False
        if step is None and epoch is None:
            step, epoch = self._step, self._epoch
        for row in rows.values():
            row[_STEP], row[_EPOCH] = step, epoch
            self._rows.append(row)
        if len(self._rows) >= _BLOCK:
            self._make_block()
        return True

    def table(self) -> pl.DataFrame:
        """All rows so far, of ``ROW_SCHEMA``."""
        self._make_block()
        return pl.concat([ROW_SCHEMA.to_frame(), *self._blocks])

    def _make_block(self) -> None:
        self._blocks.append(pl.DataFrame(self._rows, schema=ROW_SCHEMA, orient="row"))
        self._rows = []
