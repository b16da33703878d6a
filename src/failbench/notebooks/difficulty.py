"""How hard a crash is to foresee: a rule that was written before the first pair was recorded."""

from __future__ import annotations

from typing import Final, Literal

Difficulty = Literal["easy", "medium", "hard"]

FAR: Final = 3
"""Steps from which on a crash is hard even where the code alone shows it."""


def difficulty_of(cells_between: int, functions_between: int, *, shown_by_code: bool) -> Difficulty:
    """The grade of a crash.

    Easy is what the code alone shows without a step between cause and crash. Hard is what the code
    alone does not show with a step between, or what is three steps away. The rest is medium.
    """
    steps = cells_between + functions_between
    if steps >= FAR or (steps and not shown_by_code):
        return "hard"
    return "medium" if steps or not shown_by_code else "easy"
