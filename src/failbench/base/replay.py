"""Replay: answers cost a training, a kernel or a tool, so that they are asked for once and kept."""

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically

Row = dict[str, Any]
Values = tuple[Any, ...]

DENSE: Final[Mapping[str, Any]] = {"compression_level": 19, "statistics": False}
"""Of a table that is written once and read often."""


@dataclass(frozen=True)
class AnswerTable:
    """The form of a table of answers: first its key, of which the unit that is asked is a part."""

    schema: pl.Schema
    key: tuple[str, ...]
    unit: tuple[str, ...]
    version: tuple[str, ...]
    remedy: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def read(self, path: Path) -> pl.DataFrame:
        """Read the table, sorted by its key."""
        try:
            table = pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            problem = f"is missing or is not parquet ({(str(error).splitlines() or [''])[0]})."
            raise BadInputError(path, "(file)", problem, self.remedy) from error
        for name in {**self.schema, **table.schema}:
            found, wanted = table.schema.get(name), self.schema.get(name)
            if found != wanted:
                problem = f"is {found or 'missing'} and must be {wanted or 'left out'}."
                raise BadInputError(path, name, problem, self.remedy)
        table = table.select(self.schema.names()).sort(self.key)
        repeated = table.filter(table.select(self.key).is_duplicated())
        if repeated.height:
            problem = f"{repeated.select(self.key).row(0)} is there twice."
            raise BadInputError(path, ", ".join(self.key), problem, self.remedy)
        return table

    def write(self, path: Path, rows: list[Row]) -> None:
        """Write the table atomically, sorted by its key."""
        content = io.BytesIO()  # through memory: polars reports a full disk as a damaged file
        table = pl.DataFrame(rows, self.schema).sort(self.key)
        table.write_parquet(content, compression="zstd", **self.options)
        write_atomically(path, content.getvalue(), "Free space, or name another folder.")


class Replay:
    """A table of answers while it is recorded; being killed costs ``every`` units at most."""

    # An answer to something that has changed stays until it is given again.

    def __init__(self, table: AnswerTable, path: Path, every: int = 1) -> None:
        self._table = table
        self._path = path
        self._every = every
        self._rows: dict[Values, list[Row]] = {}
        self._unwritten = 0
        if path.exists():
            self._add(table.read(path).iter_rows(named=True))

    def has(self, unit: Values, versions: Iterable[Values]) -> bool:
        """Whether the answers about a unit are there, and are of these versions."""
        rows = self._rows.get(unit, [])
        return {_values(row, self._table.version) for row in rows} == set(versions)

    def keep(self, rows: Iterable[Row]) -> None:
        """Keep the answers about some units, in place of older ones."""
        self._unwritten += self._add(rows)
        if self._unwritten >= self._every:
            self._write()

    def drop_strangers(self, is_wanted: Callable[[Row], bool]) -> None:
        """Forget units that nobody asks about any more."""
        wanted = {unit: rows for unit, rows in self._rows.items() if all(map(is_wanted, rows))}
        self._unwritten += len(self._rows) - len(wanted)
        self._rows = wanted

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what is not written yet, of a recording that was stopped too."""
        if self._unwritten:
            self._write()

    def _add(self, rows: Iterable[Row]) -> int:
        added: dict[Values, list[Row]] = {}
        for row in rows:
            added.setdefault(_values(row, self._table.unit), []).append(row)
        self._rows |= added
        return len(added)

    def _write(self) -> None:
        self._table.write(self._path, [row for rows in self._rows.values() for row in rows])
        self._unwritten = 0


def _values(row: Row, names: Iterable[str]) -> Values:
    return tuple(row[name] for name in names)
