"""Chained arithmetic: steps that add to a digit or take from it, modulo ten.

``length`` is the number of steps. Small letters name the first digit and the steps. At ``depth`` 1
a step has its number, ``g3,h+4,i-1>``, and at 2 the name of a constant, which is to be looked up,
``K4,B1,C2,g3,h+K,i-B>``. The scratchpad writes the value before and after each step,
``h3+4=7,i7-1=6`` or ``h3+K4=7,i7-B1=6``; the answer is the last of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.reasoning.problems import (
    DIGITS,
    END_OF_PROMPT,
    LETTERS,
    Problem,
    consecutive_letters,
)

MODULUS: Final = len(DIGITS)
LARGEST: Final = 5  # the largest number that is added or taken
CONSTANTS: Final = 3


def is_possible(length: int, depth: int) -> bool:
    """Whether there are problems of this length and depth: steps have different names."""
    return 1 <= length < len(LETTERS) and depth in (1, 2)


def problem(random: np.random.Generator, length: int, depth: int) -> Problem:
    """Draw a problem; names begin at any letter, so that all letters occur at every length."""
    constants: dict[str, int] = {}
    if depth > 1:
        drawn = random.permutation(len(LETTERS))[:CONSTANTS]
        constants = {LETTERS[place].upper(): _number(random) for place in drawn}
    first, *names = list(consecutive_letters(int(random.integers(len(LETTERS))), length + 1))
    value = int(random.integers(MODULUS))
    asked = [*(f"{name}{number}" for name, number in constants.items()), f"{first}{value}"]
    worked = []
    for name in names:
        sign = "+-"[int(random.integers(2))]
        constant = list(constants)[int(random.integers(CONSTANTS))] if constants else ""
        number = constants[constant] if constant else _number(random)
        result = (value + number if sign == "+" else value - number) % MODULUS
        asked.append(f"{name}{sign}{constant or number}")
        worked.append(f"{name}{value}{sign}{constant}{number}={result}")
        value = result
    return Problem(
        prompt=",".join(asked) + END_OF_PROMPT,
        steps=tuple(worked),
        between=",",
        answer=str(value),
        guess=1 / MODULUS,
    )


def _number(random: np.random.Generator) -> int:
    return int(random.integers(1, LARGEST + 1))
