"""Language-model signals: the names of a record's values, and the causes that they indicate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, cast

from failbench.base.vocabulary import CATEGORIES, Category
from failbench.methods.rules import parts, read_table
from failbench.monitor.invariants import CATALOGUE


@dataclass(frozen=True)
class Signal:
    """A value that a record shows."""

    name: str
    categories: tuple[Category, ...]
    source: str
    aliases: tuple[str, ...] = ()


def _part(name: str) -> tuple[Signal, ...]:
    return tuple(
        Signal(
            row["name"],
            cast("tuple[Category, ...]", tuple(parts(row["categories"]))),
            row["source"],
            tuple(parts(row["aliases"])),
        )
        for row in read_table("llm_signals")
        if row["part"] == name
    )


STEP_SIGNALS: Final = _part("steps")
"""Columns of the table of steps, in their order."""

CONFIGURATION_SIGNALS: Final = _part("configuration")
"""Values shown once per run, in their order."""

ERROR_SIGNALS: Final = _part("error")
"""The error text."""

END_SIGNALS: Final = _part("end")
"""How the monitor saw a run end, in their order."""

SIGNALS: Final = (*STEP_SIGNALS, *CONFIGURATION_SIGNALS, *ERROR_SIGNALS)

MONITOR_SIGNALS: tuple[Signal, ...] = (
    *END_SIGNALS,
    *(
        Signal(
            name,
            tuple(
                category
                for category in CATEGORIES
                if any((each.signal, each.component) == (name, category) for each in CATALOGUE)
            ),
            "the monitor's catalogue: the components whose invariants speak of the signal",
        )
        for name in dict.fromkeys(invariant.signal for invariant in CATALOGUE)
        if name not in {signal.name for signal in SIGNALS}
    ),
)
"""What the monitor's record shows beside :data:`SIGNALS`, some of which it shows as well."""

QUALIFIERS: Final = frozenset(_part("qualifier")[0].aliases)
"""Words that qualify a signal and are not part of its name."""


def plain(name: str) -> str:
    """A name in lower case, its words joined by single underscores.

    >>> plain(" Gradient-Norm (max)")
    'gradient_norm_max'
    """
    return "_".join(re.findall(r"[a-z0-9]+", name.lower()))


_NAMES = {alias: signal for signal in reversed(SIGNALS) for alias in (*signal.aliases, signal.name)}
_MONITOR_NAMES = {
    alias: signal for signal in MONITOR_SIGNALS for alias in (*signal.aliases, signal.name)
}


def signal_named(name: str, *, monitored: bool = False) -> Signal | None:
    """The signal that an answer cites, or None where the record has none of that name.

    A name is compared with names and aliases as :func:`plain` writes it; then without numbers and
    the words of ``QUALIFIERS``, so that "max gradient norm at step 120" is ``gradient_norm``.
    """
    names = {**_MONITOR_NAMES, **_NAMES} if monitored else _NAMES
    whole = plain(name)
    if whole in names:
        return names[whole]
    words = [word for word in whole.split("_") if word not in QUALIFIERS and not word.isdecimal()]
    return names.get("_".join(words))
