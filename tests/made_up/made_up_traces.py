from itertools import product

import numpy as np
import polars as pl

from failbench.neighbours.lenses.slices import ResamplingSettings, scale_of, slices_of
from failbench.reasoning.traces import TRACE_SCHEMA, checked

SETTINGS = ResamplingSettings(resamples=100, confidence=0.95, seed=0)
ALPHABET = np.array(list("0123456789+-=;abcdef"))
BUDGET = 64


def falling(middle, steepness=1.0):
    """Accuracy that falls through one half at a length."""
    return lambda length: float(1 / (1 + np.exp(steepness * (length - middle))))


HEALTHY = falling(7)


def letters(tokens, rng):
    """A text without order, a letter a token."""
    return "".join(rng.choice(ALPHABET, tokens))


def looping(tokens, rng):
    """A text that is one block over and over."""
    block = letters(3, rng)
    return (block * tokens)[:tokens]


def made_up_answers(
    model="healthy-0",
    *,
    condition="healthy",
    seed=0,
    tokenizer="char",
    task="arithmetic",
    accuracy=HEALTHY,
    lengths=range(2, 13),
    depths=(1, 2),
    items=20,
    right_tokens=lambda n, rng: 3 * n + int(rng.integers(0, 4)),
    wrong_tokens=lambda n, rng: 3 * n + int(rng.integers(0, 12)),
    right_text=letters,
    wrong_text=letters,
    prompt=lambda n, rng: rng.integers(0, 14, 3 * n).tolist(),
    guess=0.0,
):
    """The answers of a model to a task; its problems are those of all models of the task."""
    rng = np.random.default_rng([seed, *model.encode()])
    problems = np.random.default_rng([len(task), *tokenizer.encode()])
    rows = []
    for length, depth, item in product(lengths, depths, range(items)):
        right = rng.random() < accuracy(length)
        tokens = (right_tokens if right else wrong_tokens)(length, rng)
        text = (right_text if right else wrong_text)(min(tokens, BUDGET), rng)
        said = "truncated" if tokens > BUDGET else "correct" if right else "wrong"
        keys = (model, condition, seed, tokenizer, task, length, depth, item)
        rows.append((*keys, prompt(length, problems), text, min(tokens, BUDGET), said, guess))
    return checked(pl.DataFrame(rows, schema=TRACE_SCHEMA, orient="row"), "made up")


def made_up_slice(**changes):
    traces = made_up_answers(**changes)
    (part,) = slices_of(traces)
    return part, scale_of(traces)


LOOPS = {"wrong_text": looping, "wrong_tokens": lambda n, rng: BUDGET + 1}
CONDITIONS = {
    "healthy": {},
    "short": {"accuracy": falling(4, 5.0)},
    "loops": LOOPS | {"accuracy": falling(6)},
    "dull": {"accuracy": lambda length: 0.3},
}
"""Of the models of a made-up study."""


def made_up_study(tasks=("arithmetic", "paths"), items=8):
    """Three seeds of four conditions, whose healthy models have two tokenizers."""
    tables = []
    for task, seed, condition in product(tasks, range(3), CONDITIONS):
        for name in ("char", "pairs") if condition == "healthy" else ("char",):
            keys = {"condition": condition, "seed": seed, "tokenizer": name, "task": task}
            model = f"{condition}-{name}-{seed}"
            tables.append(made_up_answers(model, items=items, **keys, **CONDITIONS[condition]))
    return pl.concat(tables)
