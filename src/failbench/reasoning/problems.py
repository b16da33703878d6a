"""Problem: a question in text, the scratchpad that leads to its answer, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

END_OF_PROMPT: Final = ">"  # the last character of every prompt, and of no other text
BEFORE_ANSWER: Final = ":"  # stands between scratchpad and answer, and nowhere else
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
DIGITS: Final = "0123456789"
# every character of every problem
ALPHABET: Final = LETTERS + LETTERS.upper() + DIGITS + "=+-(),?" + END_OF_PROMPT + BEFORE_ANSWER


@dataclass(frozen=True)
class Problem:
    """A problem of one task."""

    prompt: str
    steps: tuple[str, ...]
    between: str
    answer: str
    guess: float

    @property
    def response(self) -> str:
        """What a model is to write after the prompt."""
        return f"{self.between.join(self.steps)}{BEFORE_ANSWER}{self.answer}"


def consecutive_letters(start: int, number: int) -> str:
    """So many letters of the alphabet from ``start``, with ``a`` after ``z``."""
    return "".join(LETTERS[(start + place) % len(LETTERS)] for place in range(number))
