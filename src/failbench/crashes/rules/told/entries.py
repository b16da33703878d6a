"""Entries of a runtime summary, and the words in them."""

from __future__ import annotations

from typing import Any, Final

Entry = dict[str, Any]
WORDS: Final = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
ALL_SHOWN: Final = 5
"""Distinct values that a summary lists at most."""


def facts_of(entry: Entry, part: str) -> dict[str, Any]:
    """The facts of one class; none if the summary tells none."""
    content = entry.get(part)
    return content if isinstance(content, dict) else {}


def dtype_told(name: str) -> str | None:
    """A type by the name that rules use."""
    name = name.removeprefix("torch.")
    if name.startswith("<U") or name in ("str", "string"):
        return "str"
    if name.startswith(("datetime64", "<M8")):
        return "datetime64"
    if name.startswith("timedelta64"):
        return "timedelta64"
    if name.startswith("["):
        return "void"
    return name
