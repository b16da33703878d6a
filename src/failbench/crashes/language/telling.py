"""What a prompt tells of the kernel: a summary as JSON of limited length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from failbench.notebooks.summaries import Summary

Cut = Literal["nothing", "items_of_items", "items", "names"]
"""What was left out; each comes after those before it."""

DEPTHS: Final[tuple[tuple[Cut, int], ...]] = (("nothing", 2), ("items_of_items", 1), ("items", 0))
"""How deep items are told; summaries have two levels of them."""


@dataclass(frozen=True)
class Told:
    """A summary as it is told."""

    text: str
    cut: Cut


def tell(summary: Summary, limit: int) -> Told:
    """The summary in at most ``limit`` characters.

    As long as it is too long, items of items are left out, then all items, then entries of names,
    from the last of the relevant ones on, and at last names of the list itself. Where names were
    left out it says that it is truncated, as then a name without an entry need not be absent.
    """
    for cut, shortened in _shorter(summary):
        text = _json(shortened)
        if len(text) <= limit:
            return Told(text, cut)
    raise ValueError(f"no summary has {limit} characters or fewer")


def _shorter(summary: Summary) -> Iterator[tuple[Cut, Summary]]:
    for cut, depth in DEPTHS:
        yield cut, replace(summary, names=_to_depth(summary.names, depth))
    names = _to_depth(summary.names, 0)
    order = [name for name in summary.relevant if name in names]
    for count in reversed(range(len(order))):
        kept = {name: names[name] for name in order[:count]}
        yield "names", replace(summary, names=kept, truncated=True)
    for count in reversed(range(len(summary.relevant))):
        yield "names", Summary(summary.relevant[:count], {}, truncated=True)


def _to_depth(entries: Mapping[str, dict[str, Any]], depth: int) -> dict[str, dict[str, Any]]:
    """Entries with so many levels of items."""
    told = {}
    for name, entry in entries.items():
        told[name] = {part: facts for part, facts in entry.items() if part != "items"}
        if depth and "items" in entry:
            told[name]["items"] = _to_depth(entry["items"], depth - 1)
    return told


def _json(summary: Summary) -> str:
    content = {
        "relevant": summary.relevant,
        "names": summary.names,
        "truncated": summary.truncated,
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
