"""Index rules: which operations look something up, where, and what PyTorch raises on a CPU."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import torch
from torch import Tensor

from failbench.preflight.known_values import Known, KnownValues

# position of ``ignore_index`` in the operations of the negative log likelihood
IGNORED_ARGUMENT = 4
REDUCTION_ARGUMENT = 3
MEAN = 1


@dataclass(frozen=True)
class IndexRule:
    """An operation that looks something up; the fields are the columns of the file."""

    operation: str
    indices: int
    table: int
    axis: str
    negative: bool
    kind: Literal["row", "label"]
    text: str


@dataclass(frozen=True)
class Lookup:
    """Indices and the table that they are looked up in."""

    rule: IndexRule
    known: Known
    rows: int
    axis: int
    ignored: int | None
    averaged: bool

    @property
    def least(self) -> int:
        """The smallest index that is allowed."""
        return -self.rows if self.rule.negative else 0

    @property
    def counted(self) -> Tensor:
        """The indices that are looked up, flat."""
        values = self.known.value.flatten()
        return values if self.ignored is None else values[values != self.ignored]

    @property
    def outside(self) -> Tensor:
        """Those that are not in the table."""
        counted = self.counted
        return counted[(counted < self.least) | (counted >= self.rows)]

    @property
    def error(self) -> str:
        """What PyTorch raises."""
        first = int(self.outside[0])
        return self.rule.text.format(value=first, axis=self.axis, rows=self.rows)


@cache
def index_rules() -> dict[str, IndexRule]:
    """The rules by operation."""
    text = files("failbench.preflight").joinpath("data/index_rules.csv").read_text("utf-8")
    return {
        row["operation"]: IndexRule(
            row["operation"],
            int(row["indices"]),
            int(row["table"]),
            row["axis"],
            row["negative"] == "yes",
            "label" if row["kind"] == "label" else "row",
            row["text"],
        )
        for row in csv.DictReader(text.splitlines())
    }


def lookups(operation: Any, arguments: tuple[Any, ...], values: KnownValues) -> Iterator[Lookup]:
    """The look-ups of an operation whose indices are known; none for most operations."""
    rule = index_rules().get(str(operation))
    if rule is None:
        return
    table, indices = arguments[rule.table], arguments[rule.indices]
    several = indices if isinstance(indices, list | tuple) else [indices]
    if any(isinstance(each, Tensor) and each.dtype is torch.bool for each in several):
        return  # a mask stands for as many axes as it has, and PyTorch compares its shape
    for position, each in enumerate(several):
        known = values.of(each)
        if known is None or not known.value.numel():
            continue
        axis = _axis(rule, arguments, position, table.dim())
        is_label = rule.kind == "label"
        yield Lookup(
            rule,
            known,
            int(table.shape[axis]) if table.dim() else 1,
            axis,
            int(arguments[IGNORED_ARGUMENT]) if is_label else None,
            is_label and arguments[REDUCTION_ARGUMENT] == MEAN,
        )


def _axis(rule: IndexRule, arguments: tuple[Any, ...], position: int, dimensions: int) -> int:
    if rule.axis == "each":
        return position
    if rule.axis == "last":
        return dimensions - 1
    if rule.axis.startswith("argument "):
        axis = int(arguments[int(rule.axis.removeprefix("argument "))])
        return axis % dimensions if dimensions else 0
    return int(rule.axis)
