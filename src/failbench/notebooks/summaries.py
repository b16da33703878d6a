"""A runtime summary as it is read back, and what is left of it without a class of facts."""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

# what a fact is about: size and names; kind and representation; or the values themselves
Facts = Literal["structural", "type", "value"]
FACTS: Final[tuple[Facts, ...]] = get_args(Facts)


@dataclass(frozen=True)
class Summary:
    """What was known of the kernel before the target."""

    relevant: tuple[str, ...]
    names: dict[str, dict[str, Any]]
    truncated: bool

    @property
    def absent(self) -> tuple[str, ...]:
        """Relevant names that were not in the namespace; unknown, and so empty, if truncated."""
        if self.truncated:
            return ()
        return tuple(name for name in self.relevant if name not in self.names)


def parse_summary(text: str) -> Summary:
    """Read a summary from its JSON."""
    raw = json.loads(text)
    if not isinstance(raw, dict) or raw.keys() != {"relevant", "names", "truncated"}:
        raise ValueError("a summary has the keys relevant, names and truncated")
    return Summary(tuple(raw["relevant"]), raw["names"], raw["truncated"])


def without(summary: Summary, facts: Collection[Facts]) -> Summary:
    """The summary without facts of these classes, at any depth; names and items stay."""
    return replace(
        summary, names={name: _without(entry, facts) for name, entry in summary.names.items()}
    )


def _without(entry: dict[str, Any], facts: Collection[Facts]) -> dict[str, Any]:
    kept = {part: content for part, content in entry.items() if part not in facts}
    if "items" in kept:
        kept["items"] = {name: _without(item, facts) for name, item in kept["items"].items()}
    return kept
