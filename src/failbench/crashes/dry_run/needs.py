"""What each kind of object must be told of so that one can be made in its place."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Any, Final

PARTS: Final = ("type", "structural", "value")


class NotRebuiltError(Exception):
    """An object cannot be made from what is told of it; the message says why."""


@cache
def needed_facts() -> dict[str, tuple[tuple[str, str], ...]]:
    """By kind the facts it needs, as class of facts and name; beside these its kind and class."""
    text = files(__package__).joinpath("data/needs.csv").read_text(encoding="utf-8")
    return {
        row["kind"]: tuple((part, fact) for part in PARTS for fact in row[part].split())
        for row in csv.DictReader(text.splitlines())
    }


@cache
def allowed_modules() -> frozenset[str]:
    """Top-level modules that are imported for a dry run."""
    text = files(__package__).joinpath("data/modules.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def check_told(entry: dict[str, Any]) -> str:
    """The kind of what an entry of a summary describes.

    Raises
    ------
    NotRebuiltError
        If its kind, its class or a fact that the kind needs is not told.
    """
    known = entry.get("type", {})
    if "kind" not in known or "class" not in known:
        raise NotRebuiltError("its kind is not told")
    kind: str = known["kind"]
    if kind not in needed_facts():
        raise NotRebuiltError(f"nothing is made of the kind {kind}")
    for part, fact in needed_facts()[kind]:
        if fact not in entry.get(part, {}):
            raise NotRebuiltError(f"{fact} is not told")
    return kind


def check_module(name: str) -> None:
    """Refuse a module that is not imported for a dry run.

    Raises
    ------
    NotRebuiltError
        If it is not on the list.
    """
    if name.partition(".")[0] not in allowed_modules():
        raise NotRebuiltError(f"the module {name} is not imported for a dry run")
