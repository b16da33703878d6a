"""Model: how much each kind of sign is worth, learnt from the benchmark.

Words of a library that have a category decide it. Otherwise two conditional logits do. The first is
of categories: kinds of support have one weight each, shared by all categories, so that what was
learnt of one message holds for the others; checks and absences have a weight for each category,
drawn towards zero. The second is of causes within a category, with shared weights alone, so that a
cause that no scenario has can be named too. Both are divided by a temperature, and the category
that is named has as its probability how often such answers were right; both come from scenarios
that were not learnt from.

It is stored as JSON: numbers that a person can read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from failbench.base.arrays import Array, Mask
from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.diagnose.bounds import CheckBound
from failbench.diagnose.supports import (
    OWN,
    SHARED,
    LogKind,
    Supports,
    category_of_cause,
)

FORMAT: Final = 1
_AHEAD: Final = 1e-6
"""Least distance of the category that is named from the next: no other is as probable."""

Positions = NDArray[np.int64]
"""Of categories or causes, of shape (logs,)."""


@dataclass(frozen=True)
class Examples:
    """Logs whose causes are known."""

    categories: Array
    causes: Array
    own: Array
    category: Positions
    cause: Positions
    weights: Array

    def of(self, taken: Mask) -> Examples:
        """Some of the logs."""
        return Examples(
            self.categories[taken],
            self.causes[taken],
            self.own[taken],
            self.category[taken],
            self.cause[taken],
            self.weights[taken],
        )


class Weights(Record):
    """What is learnt, but for the temperatures."""

    shared: tuple[float, ...]
    own: tuple[tuple[float, ...], ...]
    base: tuple[float, ...]
    causes: tuple[float, ...]


class Calibration(Record):
    """How often answers were right, by the probability that the model gave their category."""

    probability: tuple[float, ...]
    right: tuple[float, ...]
    scenarios: int


@dataclass(frozen=True)
class Weighed:
    """What a log speaks for: one category, and how probable each category and cause is."""

    category: int
    categories: Array
    causes: Array

    @property
    def cause(self) -> int:
        """The most probable cause of the category."""
        members = category_of_cause() == self.category
        return int(np.where(members, self.causes, -1.0).argmax())


class Model(Record):
    """A fitted model."""

    format: int
    fitted_on: str
    shared: dict[str, float]
    own: dict[str, dict[Category, float]]
    base: dict[Category, float]
    causes: dict[str, float]
    temperature: float
    cause_temperature: float
    calibrations: dict[LogKind, Calibration]
    bounds: dict[str, CheckBound]
    healthy: float

    def weighed(self, supports: Supports) -> Weighed:
        """What a log speaks for; probabilities of categories and of causes add up to 1 each."""
        weights = Weights(
            shared=tuple(self.shared[name] for name in SHARED),
            own=tuple(_in_order(self.own[name]) for name in OWN),
            base=_in_order(self.base),
            causes=tuple(self.causes[name] for name in SHARED),
        )
        one = Examples(
            supports.categories[None],
            supports.causes[None],
            supports.own[None],
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
            np.ones(1),
        )
        categories = softmax(category_scores(weights, one) / self.temperature)[0]
        best = int(categories.argmax()) if supports.said is None else supports.said
        known = self.calibrations[supports.kind]
        probability = categories[best] if supports.said is None else 1.0
        right = float(np.interp(probability, known.probability, known.right))
        others = np.delete(categories, best)
        next_best = others.max() / others.sum()
        right = max(right, next_best / (1 + next_best) + _AHEAD)
        categories = categories * (1 - right) / others.sum()
        categories[best] = right
        within = cause_shares(weights, one, self.cause_temperature)[0]
        return Weighed(best, categories, categories[category_of_cause()] * within)


def by_category(values: Sequence[float]) -> dict[Category, float]:
    """Numbers in the order of categories, by their names."""
    return dict(zip(CATEGORIES, values, strict=True))


def _in_order(values: Mapping[Category, float]) -> tuple[float, ...]:
    return tuple(values[category] for category in CATEGORIES)


def logsumexp(scores: Array) -> Array:
    """Logarithms of sums of exponentials, of shape (rows, 1).

    As ``scipy.special.logsumexp`` computes them, to the last bit: reading a log takes no SciPy.
    """
    top = scores.max(axis=1, keepdims=True)
    is_top = scores == top
    count = is_top.sum(axis=1, keepdims=True, dtype=np.float64)
    rest = np.exp(np.where(is_top, -np.inf, scores) - top).sum(axis=1, keepdims=True)
    sums: Array = np.log1p(rest / count) + np.log(count) + top
    return sums


def softmax(scores: Array) -> Array:
    """Exponentials that add up to 1 in each row, of the same shape."""
    shares: Array = np.exp(scores - logsumexp(scores))
    return shares


def category_scores(weights: Weights, examples: Examples) -> Array:
    """Scores of shape (logs, categories)."""
    scores: Array = (
        np.einsum("lkc,k->lc", examples.categories, np.array(weights.shared))
        + examples.own @ np.array(weights.own)
        + np.array(weights.base)
    )
    return scores


def cause_scores(weights: Weights, examples: Examples) -> Array:
    """Scores of shape (logs, causes), to be compared within a category."""
    scores: Array = np.einsum("lkc,k->lc", examples.causes, np.array(weights.causes))
    return scores


def cause_shares(weights: Weights, examples: Examples, temperature: float) -> Array:
    """Share of each cause among those of its category, of shape (logs, causes)."""
    scores = cause_scores(weights, examples) / temperature
    shares = np.empty_like(scores)
    of_category = category_of_cause()
    for category in range(len(CATEGORIES)):
        members = of_category == category
        shares[:, members] = softmax(scores[:, members])
    return shares


def write_model(path: Path, model: Model) -> None:
    """Write a model as JSON, its numbers to six digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_rounded(model).model_dump_json(indent=1) + "\n", encoding="utf-8")


def _rounded(model: Model) -> Model:
    def short(value: object) -> object:
        if isinstance(value, float):
            return float(f"{value:.6g}")
        if isinstance(value, Mapping):
            return {key: short(each) for key, each in value.items()}
        return value

    return Model.model_validate(short(model.model_dump()))


def read_model(path: Path) -> Model:
    """Read a model."""
    remedy = "Restore it with `git checkout`, or run `dvc repro`."
    try:
        model = TypeAdapter(Model).validate_json(path.read_bytes())
    except OSError as error:
        raise BadInputError(
            path, "(file)", f"cannot be read ({error.strerror}).", remedy
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(file)"
        raise BadInputError(path, field, f"{first['msg']}.", remedy) from error
    if set(model.shared) != set(SHARED) or set(model.own) != set(OWN):
        raise BadInputError(path, "own", "is of another version of the signs.", remedy)
    return model
