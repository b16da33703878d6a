"""Counterparts: which number of ours stands beside each of the original's, as declared data.

``data/counterparts.csv`` has a row for every number of ``data/reported/paper.yaml``: the place of
ours among the metrics, the claims of the audit that test it, and a note, which is the reason where
there is no number of ours. Numbers stand side by side only where both are of one quantity.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from failbench.base.errors import BadInputError

TABLE: Final = "src/failbench/publish/page/data/counterparts.csv"

Metrics = Mapping[str, Mapping[str, object]]
"""Files of ``data/metrics`` by name without suffix, as they were read."""


@dataclass(frozen=True)
class Reference:
    """A place among the metrics: ``intervals:19/ebm/accuracy``."""

    study: str
    path: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Read ``study:key/key``."""
        study, _, path = text.partition(":")
        return cls(study, tuple(path.split("/")))

    def __str__(self) -> str:
        return f"{self.study}:{'/'.join(self.path)}"


@dataclass(frozen=True)
class Counterpart:
    """What stands beside one number of the original."""

    path: str
    ours: tuple[Reference, ...]
    audit: tuple[str, ...]
    note: str


def counterparts() -> dict[str, Counterpart]:
    """The declared counterparts by path."""
    text = files("failbench.publish.page").joinpath("data/counterparts.csv").read_text("utf-8")
    table: dict[str, Counterpart] = {}
    for row in csv.DictReader(text.splitlines()):
        path = row["path"]
        if path in table:
            raise BadInputError(TABLE, path, "has two rows.", "Keep one.")
        if not (row["ours"] or row["note"]):
            raise BadInputError(
                TABLE, path, "has no number of ours and no reason.", "Write the note."
            )
        ours = tuple(Reference.parse(part) for part in row["ours"].split())
        table[path] = Counterpart(path, ours, tuple(row["audit"].split()), row["note"])
    return table


def looked_up(reference: Reference, metrics: Metrics, path: str) -> dict[str, float]:
    """The estimate or number at a place: ``value``, and ``ci_low``, ``ci_high``, ``n`` if known."""
    found: object = metrics.get(reference.study)
    for key in reference.path:
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping) and isinstance(found.get("value"), int | float):
        kept = ("value", "ci_low", "ci_high", "n")
        return {key: float(found[key]) for key in kept if key in found}
    if isinstance(found, int | float) and not isinstance(found, bool):
        return {"value": float(found)}
    raise BadInputError(
        f"data/metrics/{reference.study}.json",
        "/".join(reference.path),
        f"has no number, which {TABLE} sets beside {path} of the original.",
        "Run `dvc repro` for the stage that writes it, or mend the row.",
    )
