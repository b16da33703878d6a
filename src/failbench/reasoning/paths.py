"""Path look-up: where a path through a table leads, the value of a key being the next key.

``length`` is the number of entries, a key and its value, which are printed in any order, and
``depth`` the number of look-ups. Keys are small letters, values the capitals of keys or of no
key: ``kC,mA,aK?a2>`` asks where 2 look-ups from ``a`` lead. The scratchpad writes each look-up with
the number of those that are left, ``a2K,k1C``; the answer is ``C``.
"""

from __future__ import annotations

import numpy as np

from failbench.reasoning.problems import DIGITS, END_OF_PROMPT, LETTERS, Problem


def is_possible(length: int, depth: int) -> bool:
    """Whether there are problems of this length and depth: keys differ, a digit is the depth."""
    return 1 <= depth <= length < len(LETTERS) and depth < len(DIGITS)


def problem(random: np.random.Generator, length: int, depth: int) -> Problem:
    """Draw a problem whose path never comes back; a guess is one of the values that are printed."""
    keys = [LETTERS[place] for place in random.permutation(len(LETTERS))[: length + 1]]
    # A key's value stands after it, so that values form a tree; a path is planted at its start.
    values = {
        key: keys[place + 1 if place < depth else int(random.integers(place + 1, length + 1))]
        for place, key in enumerate(keys[:-1])
    }
    printed = [keys[place] for place in random.permutation(length)]
    followed = tuple(
        f"{keys[place]}{depth - place}{values[keys[place]].upper()}" for place in range(depth)
    )
    return Problem(
        prompt=",".join(key + values[key].upper() for key in printed)
        + f"?{keys[0]}{depth}{END_OF_PROMPT}",
        steps=followed,
        between=",",
        answer=keys[depth].upper(),
        guess=1 / len(set(values.values())),
    )
