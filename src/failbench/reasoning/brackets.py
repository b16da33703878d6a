"""Bracket matching: whether a sequence of brackets is balanced.

``length`` is the number of brackets, an even one, and ``depth`` how deep the balanced sequence
nests that the problem is made of. In every other problem, drawn at random, one bracket is turned
round. Each bracket has a letter before it, which names its place: ``g(h(i)j)>``. The scratchpad
goes through the brackets and counts those that are open, ``g(1h(2i)1j)0``, up to the first that
closes what was never opened, ``g(1h)0i)-``; the answer is ``y`` or ``n``.
"""

from __future__ import annotations

import numpy as np

from failbench.reasoning.problems import END_OF_PROMPT, LETTERS, Problem, consecutive_letters


def is_possible(length: int, depth: int) -> bool:
    """Whether there are problems of this length and depth: places have different names."""
    return length % 2 == 0 and 1 <= depth <= length // 2 <= len(LETTERS) // 2


def problem(random: np.random.Generator, length: int, depth: int) -> Problem:
    """Draw a problem; half are balanced in expectation."""
    brackets = _balanced(random, length // 2, depth)
    if random.integers(2):
        turned = int(random.integers(length))
        other = ")" if brackets[turned] == "(" else "("
        brackets = brackets[:turned] + other + brackets[turned + 1 :]
    names = consecutive_letters(int(random.integers(len(LETTERS))), length)
    worked: list[str] = []
    is_open = 0
    for name, bracket in zip(names, brackets, strict=True):
        is_open += 1 if bracket == "(" else -1
        worked.append(f"{name}{bracket}{is_open if is_open >= 0 else '-'}")
        if is_open < 0:
            break
    pairs = zip(names, brackets, strict=True)
    return Problem(
        prompt="".join(name + bracket for name, bracket in pairs) + END_OF_PROMPT,
        steps=tuple(worked),
        between="",
        answer="n" if is_open else "y",
        guess=0.5,
    )


def _balanced(random: np.random.Generator, pairs: int, depth: int) -> str:
    """A balanced sequence that nests exactly so deep, drawn uniformly from all such sequences."""
    ways = _ways(pairs, depth)
    brackets, level, reached = "", 0, depth == 0
    for left in range(2 * pairs - 1, -1, -1):
        up = ways[left][level + 1][reached or level + 1 == depth] if level < depth else 0
        down = ways[left][level - 1][reached] if level else 0
        if random.integers(up + down) < up:
            brackets, level = brackets + "(", level + 1
        else:
            brackets, level = brackets + ")", level - 1
        reached = reached or level == depth
    return brackets


def _ways(pairs: int, depth: int) -> list[list[list[int]]]:
    """Ways to end at level 0, by brackets left, level, and whether ``depth`` was reached."""
    ways = [[[int(level == 0 and reached) for reached in (0, 1)] for level in range(depth + 1)]]
    for _ in range(2 * pairs):
        after = ways[-1]
        ways.append(
            [
                [
                    (after[level + 1][reached or level + 1 == depth] if level < depth else 0)
                    + (after[level - 1][reached] if level else 0)
                    for reached in (0, 1)
                ]
                for level in range(depth + 1)
            ]
        )
    return ways
