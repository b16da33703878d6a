"""Marks: items of evidence on a curve, and labels for them that do not cover one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LETTER: Final = 0.08
"""Inches that a letter of a label takes."""

EDGE: Final = 0.14
"""Inches that its frame and the gap to the next one take."""


@dataclass(frozen=True)
class Mark:
    """An item of evidence that has a place."""

    at: float
    number: int
    signal: str
    value: float | None


@dataclass(frozen=True)
class Label:
    """The numbers of marks that stand together."""

    at: float
    text: str


def labels_apart(marks: list[Mark], inches: float) -> list[Label]:
    """Labels from left to right, none of which touches another."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda mark: (mark.at, mark.number)):
        groups.append([mark])
        while len(groups) > 1 and _touch(groups[-2], groups[-1], inches):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [Label(_middle(group), _text(group)) for group in groups]


def _touch(left: list[Mark], right: list[Mark], inches: float) -> bool:
    room = (_middle(right) - _middle(left)) * inches
    return room < (_width(left) + _width(right)) / 2


def _middle(group: list[Mark]) -> float:
    return (group[0].at + group[-1].at) / 2


def _width(group: list[Mark]) -> float:
    return LETTER * len(_text(group)) + EDGE


def _text(group: list[Mark]) -> str:
    """Numbers in their order, three or more that follow one another as a range."""
    runs: list[list[int]] = []
    for number in sorted({mark.number for mark in group}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [
        f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(str(number) for number in run)
        for run in runs
    ]
    return ", ".join(parts)
