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

    Parameters
    ----------
    cells_between
        Executions of cells between that of the cause and that of the target.
    functions_between
        Functions of the notebook that the crash passes through.
    shown_by_code
        Whether all that the crash depends on is written in the code or follows from it by the
        documentation: nothing drawn at random, no content of a data set and no longer computation.
    """
    steps = cells_between + functions_between
    if steps >= FAR or (steps and not shown_by_code):
        return "hard"
    return "medium" if steps or not shown_by_code else "easy"
