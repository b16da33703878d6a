"""Columns: what each column of the main tables holds, and in which unit."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import UnionType
from typing import Final, Literal, Union, get_args, get_origin

import polars as pl
from pydantic import BaseModel

from failbench.base.errors import BadInputError

Kind = Literal["text", "text or none", "integer", "number", "object"]

_DECLARED: Final = files("failbench.publish.datacard").joinpath("data/columns.csv")


@dataclass(frozen=True)
class Column:
    """A column."""

    name: str
    kind: Kind
    bits: int
    unit: str
    description: str

    @property
    def stored(self) -> str:
        """Its type in words."""
        return f"{self.kind}, {self.bits} bit" if self.bits else self.kind


def columns_of_table(table: str, schema: pl.Schema) -> tuple[Column, ...]:
    """The columns of a table of this schema, described."""
    types = {name: _stored(dtype) for name, dtype in schema.items()}
    return _described(table, types)


def columns_of_record(table: str, record: type[BaseModel]) -> tuple[Column, ...]:
    """The keys of a JSON file that holds one record, described."""
    fields = record.model_fields.items()
    return _described(table, {name: (_kind(field.annotation), 0) for name, field in fields})


def _described(table: str, types: dict[str, tuple[Kind, int]]) -> tuple[Column, ...]:
    declared = _declared().get(table, {})
    for name in [*types, *declared]:
        if name not in types or name not in declared:
            raise BadInputError(
                "failbench/publish/datacard/data/columns.csv",
                f"{table}.{name}",
                "the table has no such column." if name in declared else "is not described.",
                "Make its rows those of the table.",
            )
    return tuple(Column(name, *types[name], *declared[name]) for name in types)


@cache
def _declared() -> dict[str, dict[str, tuple[str, str]]]:
    """Unit and description of each column, by table."""
    tables: dict[str, dict[str, tuple[str, str]]] = {}
    for row in csv.DictReader(_DECLARED.read_text(encoding="utf-8").splitlines()):
        tables.setdefault(row["table"], {})[row["column"]] = (row["unit"], row["description"])
    return tables


def _stored(dtype: pl.DataType) -> tuple[Kind, int]:
    if dtype.is_integer():
        return "integer", int(str(dtype).removeprefix("UInt").removeprefix("Int"))
    if dtype.is_float():
        return "number", int(str(dtype).removeprefix("Float"))
    return "text", 0


def _kind(annotation: object) -> Kind:
    """What the values of a key are: text, which may be missing, or an object with keys."""
    if get_origin(annotation) in {UnionType, Union} and type(None) in get_args(annotation):
        return "text or none"
    mapping = get_origin(annotation) is dict
    record = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return "object" if mapping or record else "text"
