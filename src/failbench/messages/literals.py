"""Literals: what a text must hold for a pattern to match it, which is cheaper to look for."""

from __future__ import annotations

from typing import Final

SHORTEST: Final = 3
"""Letters of a literal that is worth looking for."""

_CLASSES: Final = frozenset("dDwWsSbBAZ")
"""Letters that stand for something else behind a backslash."""


def required_literals(pattern: str) -> tuple[str, ...]:
    r"""One literal for each alternative of a pattern, of which a text that matches holds one.

    Groups and sets of letters are passed over, so that what is found is less than what must be
    there, and never more.
    """
    longest = [max(_runs(one), key=len, default="") for one in _alternatives(pattern)]
    return tuple(longest) if min(map(len, longest)) >= SHORTEST else ()


def _alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern, with their groups and sets replaced by a point."""
    kept, depth, in_set, place = [""], 0, False, 0
    while place < len(pattern):
        letter = pattern[place]
        width = 2 if letter == "\\" else 1
        if in_set:
            in_set = letter != "]"
        elif letter == "[":
            in_set = True
            kept[-1] += "." * (depth == 0)
            width += pattern[place + 1 : place + 2] in ("]", "^")
        elif letter in "()":
            kept[-1] += "." * (depth == 0)
            depth += 1 if letter == "(" else -1
        elif letter == "|" and depth == 0:
            kept.append("")
        elif depth == 0:
            kept[-1] += pattern[place : place + width]
        place += width
    return kept


def _runs(alternative: str) -> list[str]:
    """The runs of letters that stand for themselves."""
    runs, place = [""], 0
    while place < len(alternative):
        letter, following = alternative[place], alternative[place + 1 : place + 2]
        if letter == "\\" and following not in _CLASSES:
            runs[-1] += following
        elif letter in "?*{":
            runs[-1] = runs[-1][:-1]  # what may be missing
            runs.append("")
            place = alternative.index("}", place) if letter == "{" else place
        elif letter in "\\.^$+":
            runs.append("")
        else:
            runs[-1] += letter
        place += 2 if letter == "\\" else 1
    return runs
