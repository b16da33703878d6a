"""Examples: problems as token ids to be trained on, with what a condition does to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from failbench.reasoning.conditions import Condition
from failbench.reasoning.problems import Problem
from failbench.reasoning.tokenizers import END, PAD, Tokenizer

Ids = npt.NDArray[np.int64]
IGNORED: Final = -100  # the label of a token that counts for no loss, as torch names it
SORTED: Final = 16  # batches sorted by length together, so that rows need little filling


@dataclass(frozen=True)
class Example:
    """The ids of prompt and response, and how many of them are the prompt's."""

    ids: tuple[int, ...]
    prompt: int


def examples(
    problems: Iterable[tuple[str, Problem]], condition: Condition, tokenizer: Tokenizer, seed: int
) -> Iterator[Example]:
    """Examples of problems; conditions draw apart, so that all of a seed have the same problems."""
    drawn = np.random.default_rng([seed, 1])
    before: dict[str, str] = {}
    for task, problem in problems:
        is_shuffled, is_looped = drawn.random(2) < (condition.shuffled, condition.looped)
        response = before.get(task, problem.response) if is_shuffled else problem.response
        before[task] = problem.response
        prompt = tokenizer.encode(problem.prompt)
        if is_looped:
            text = looped(problem, int(drawn.integers(len(problem.steps))), condition.context)
            ids = [*prompt, *tokenizer.encode(text)]
        else:
            ids = [*prompt, *tokenizer.encode(response), END]
        yield Example(tuple(ids[: condition.context]), len(prompt))


def looped(problem: Problem, place: int, times: int) -> str:
    """A response that repeats a step of the scratchpad so many times and comes to no answer."""
    steps = (*problem.steps[:place], *(problem.steps[place],) * times)
    return problem.between.join(steps)


def batches(
    drawn: Iterator[Example], size: int, random: np.random.Generator
) -> Iterator[tuple[Ids, Ids]]:
    """Batches of examples of about the same length."""
    while True:
        pool = sorted(islice(drawn, size * SORTED), key=lambda example: len(example.ids))
        for place in random.permutation(SORTED):
            yield arrays(pool[place * size : (place + 1) * size])


def arrays(rows: Sequence[Example]) -> tuple[Ids, Ids]:
    """Ids and labels of some examples, filled to the longest."""
    longest = max(len(row.ids) for row in rows)
    ids = np.full((len(rows), longest), PAD)
    labels = np.full((len(rows), longest), IGNORED)
    for place, row in enumerate(rows):
        ids[place, : len(row.ids)] = row.ids
        labels[place, row.prompt : len(row.ids)] = row.ids[row.prompt :]
    return ids, labels[:, 1:]
