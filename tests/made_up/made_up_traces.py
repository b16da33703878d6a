"""Traces of made-up models, whose accuracy, tokens and texts are known functions."""

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from failbench.neighbours.lenses.slices import ResamplingSettings, Scale, Slice, scale_of, slices_of
from failbench.reasoning.traces import TRACE_SCHEMA, checked

SETTINGS = ResamplingSettings(resamples=100, confidence=0.95, seed=0)
ALPHABET = np.array(list("0123456789+-=;abcdef"))
BUDGET = 64


def falling(middle: float, steepness: float = 1.0) -> Callable[[int], float]:
    """Accuracy that falls through one half at a length."""
    return lambda length: float(1 / (1 + np.exp(steepness * (length - middle))))


HEALTHY = falling(7)


def letters(tokens: int, rng: np.random.Generator) -> str:
    """A text without order, a letter a token."""
    return "".join(rng.choice(ALPHABET, tokens))


def looping(tokens: int, rng: np.random.Generator) -> str:
    """A text that is one block over and over."""
    block = letters(3, rng)
    return (block * tokens)[:tokens]


def made_up_answers(
    model: str = "healthy-0",
    *,
    condition: str | None = "healthy",
    seed: int = 0,
    tokenizer: str = "char",
    task: str = "arithmetic",
    accuracy: Callable[[int], float] = HEALTHY,
    lengths: Iterable[int] = range(2, 13),
    depths: Iterable[int] = (1, 2),
    items: int = 20,
    right_tokens: Callable[[int, np.random.Generator], int] = lambda n, rng: (
        3 * n + int(rng.integers(0, 4))
    ),
    wrong_tokens: Callable[[int, np.random.Generator], int] = lambda n, rng: (
        3 * n + int(rng.integers(0, 12))
    ),
    right_text: Callable[[int, np.random.Generator], str] = letters,
    wrong_text: Callable[[int, np.random.Generator], str] = letters,
    prompt: Callable[[int, np.random.Generator], list[int]] = lambda n, rng: rng.integers(
        0, 14, 3 * n
    ).tolist(),
    guess: float = 0.0,
    budget: int = BUDGET,
) -> pl.DataFrame:
    """The answers of a model to a task; its problems are those of all models of the task."""
    rng = np.random.default_rng([seed, *model.encode()])
    problems = np.random.default_rng([len(task), *tokenizer.encode()])
    rows = []
    for length in lengths:
        for depth in depths:
            for item in range(items):
                right = rng.random() < accuracy(length)
                tokens = (right_tokens if right else wrong_tokens)(length, rng)
                text = (right_text if right else wrong_text)(min(tokens, budget), rng)
                said = "truncated" if tokens > budget else "correct" if right else "wrong"
                keys = (model, condition, seed, tokenizer, task, length, depth, item)
                asked = prompt(length, problems)
                rows.append((*keys, asked, text, min(tokens, budget), said, guess))
    return checked(pl.DataFrame(rows, schema=TRACE_SCHEMA, orient="row"), "made up")


def made_up_slice(**changes: object) -> tuple[Slice, Scale]:
    """The one slice of a model, and its scale."""
    traces = made_up_answers(**changes)  # type: ignore[arg-type]
    (part,) = slices_of(traces)
    return part, scale_of(traces)


CONDITIONS: dict[str, dict[str, object]] = {
    "healthy": {},
    "short": {"accuracy": falling(4, 5.0)},
    "loops": {
        "accuracy": falling(6),
        "wrong_text": looping,
        "wrong_tokens": lambda n, rng: BUDGET + 1,
    },
    "dull": {"accuracy": lambda length: 0.3},
}
"""Of the models of a made-up study."""


def made_up_study(tasks: Iterable[str] = ("arithmetic", "paths"), items: int = 8) -> pl.DataFrame:
    """Three seeds of four conditions, whose healthy models have two tokenizers."""
    tables = []
    for task in tasks:
        for seed in range(3):
            for condition, changes in CONDITIONS.items():
                names = ("char", "pairs") if condition == "healthy" else ("char",)
                tables += [
                    made_up_answers(
                        f"{condition}-{tokenizer}-{seed}",
                        condition=condition,
                        seed=seed,
                        tokenizer=tokenizer,
                        task=task,
                        items=items,
                        **changes,  # type: ignore[arg-type]
                    )
                    for tokenizer in names
                ]
    return pl.concat(tables)
