"""Model: how much each kind of sign is worth, learnt from logs of many authors, stored as JSON.

Two conditional logits name category and cause. Weights of kinds of support are shared by all
categories and causes, so that messages and causes without an example count too; checks, courses,
absences and what breaks under a monitor have a weight for each category, drawn towards zero. What
the words of a log speak for by themselves (``failbench.diagnose.words``) is one kind among these.
Temperatures and probabilities are of causes that were not learnt from.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from failbench.base.arrays import Array, Mask
from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_json, validated
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.causes.catalogue import causes
from failbench.diagnose.courses import courses
from failbench.diagnose.series import CheckBound, checks
from failbench.diagnose.signs import ABSENT, Bounds, Sign, any_alarm, is_monitored, lacks_signal
from failbench.diagnose.words import NO_SUPPORT, WordSupport
from failbench.monitor.end import End, EndKind
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.signals import PHASES, Level

FORMAT: Final = 3
# least distance of the category that is named from the next: no other is as probable
_AHEAD: Final = 1e-6
Positions = NDArray[np.int64]  # of categories or causes, of shape (logs,)
# what each further cause of a sign is worth of the one before: causes are ordered, and how much
# more likely one is than the next is not known
RANKED: Final = 0.5
# support below which nothing speaks for a cause: a check a tenth of the way to its bound
FAINT: Final = 0.1

# Kinds of support, each with one weight for all categories or causes: what is learnt of one
# message or invariant holds for all others of its kind. ``any`` is 1 for a cause that anything
# speaks for at all.
SHARED: Final = (
    "message:direct", "message:circumstantial", "place", "around", "trap", "allocation",
    "check:direct", "check:circumstantial", "invariant:direct", "invariant:circumstantial",
    "first", "ending", "words", "any",
)  # fmt: skip

# columns with a weight for each category: what the benchmark shows often enough
OWN: Final = (
    "event:exception", "event:death", "event:at_start", "no event", "allocation:out_of_proportion",
    *(f"absent:{name}" for name in ABSENT), *(f"check:{name}" for name in checks()),
    *(f"{'trap' if each.kind == 'fault' else each.kind}:{each.id}" for each in courses().values()),
    *(f"monitored:{level}" for level in get_args(Level)),
    *(f"invariant:{each.id}" for each in CATALOGUE),
    *(f"first:{family}" for family in sorted({each.family for each in CATALOGUE})),
    *(f"end:{kind}" for kind in get_args(EndKind) if End(kind, "build", 0).failed),
    *(f"phase:{phase}" for phase in PHASES),
)  # fmt: skip

# columns of which it is learnt how much they say that a run fails, whatever of
ALARM: Final = (*OWN, *SHARED[: SHARED.index("words")])

# What an answer rests on: a monitor's log; else an error or a death, else a log with every signal,
# else one without some. How often answers are right is measured for each by itself.
LogKind = Literal["monitored", "ended", "complete", "other"]
_SHARED_PLACE: Final = {name: place for place, name in enumerate(SHARED)}
_OWN_PLACE: Final = {name: place for place, name in enumerate(OWN)}
_CATEGORY_PLACE: Final = {name: place for place, name in enumerate(CATEGORIES)}


_BY_STRENGTH: Final = ("message", "check", "invariant")
_SAYS_END: Final = ("message", "event", "ending")
# what shows health, in the order of weights
HEALTH: Final = tuple(each.id for each in courses().values() if each.kind != "fault")


def cause_names() -> tuple[str, ...]:
    """Names of all causes, in the order of columns."""
    return tuple(causes())


def category_of_cause() -> NDArray[np.int64]:
    """Position of the category of each cause, of shape (causes,)."""
    return np.array([_CATEGORY_PLACE[cause.category] for cause in causes().values()])


@dataclass(frozen=True)
class Supports:
    """Signs of one log as numbers."""

    categories: Array
    causes: Array
    own: Array
    kind: LogKind

    @property
    def alarming(self) -> Array:
        """What may say that a run fails, of shape (columns,)."""
        strongest = self.categories.max(axis=1)[: len(ALARM) - len(OWN)]
        return np.concatenate([self.own, strongest])


def supports_of(
    signs: Sequence[Sign], bounds: Mapping[str, CheckBound], words: WordSupport = NO_SUPPORT
) -> Supports:
    """Signs as numbers, and what words speak for."""
    names = {name: place for place, name in enumerate(cause_names())}
    of_cause = category_of_cause()
    by_category = np.zeros((len(SHARED), len(CATEGORIES)))
    by_cause = np.zeros((len(SHARED), len(names)))
    own = np.zeros(len(OWN))
    own[_OWN_PLACE["no event"]] = not any(sign.kind in ("message", "event") for sign in signs)
    for sign in signs:
        amount = sign.amount
        if sign.kind == "check":
            if sign.id not in bounds:
                continue
            amount = bounds[sign.id].nearness(sign.amount)
            own[_OWN_PLACE[f"check:{sign.id}"]] = amount
        elif f"{sign.kind}:{sign.id}" in _OWN_PLACE:
            own[_OWN_PLACE[f"{sign.kind}:{sign.id}"]] = 1.0
        row = _SHARED_PLACE.get(_kind(sign))
        if row is None:
            continue
        best = np.zeros(len(CATEGORIES))
        for rank, cause in enumerate(sign.causes):
            place, worth = names[cause], amount * RANKED**rank
            by_cause[row, place] += worth
            best[of_cause[place]] = max(best[of_cause[place]], worth)
        if sign.category is not None:
            category = _CATEGORY_PLACE[sign.category]
            best[category] = max(best[category], amount)
        by_category[row] += best
    by_cause[_SHARED_PLACE["any"]] = by_cause.sum(axis=0) > FAINT
    by_category[_SHARED_PLACE["words"]] = words.categories
    by_cause[_SHARED_PLACE["words"]] = words.causes
    ended = any(sign.kind in _SAYS_END and not sign.is_warning for sign in signs)
    kind: LogKind = "ended" if ended else "other" if lacks_signal(signs) else "complete"
    if is_monitored(signs):
        kind = "monitored"
    return Supports(by_category, by_cause, own, kind)


def _kind(sign: Sign) -> str:
    return f"{sign.kind}:{sign.strength}" if sign.kind in _BY_STRENGTH else sign.kind


class Weights(NamedTuple):
    """What is learnt, but for the temperatures."""

    shared: Array
    own: Array
    base: Array
    causes: Array


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
    bounds: Bounds
    health_base: float
    health: dict[str, float]
    alarm: dict[str, float]
    alarm_limit: float
    by_nature: tuple[str, ...]  # invariants that break in healthy runs of others: shown last

    def is_alarm(self, says_end: bool, signs: Sequence[Sign], supports: Supports) -> bool:
        """Whether a log says of an end, or shows what those of healthy runs do not."""
        if supports.kind != "monitored":
            return says_end or any_alarm(signs, self.bounds.of(signs))
        weights = np.array([self.alarm[name] for name in ALARM])
        return says_end or bool(weights @ supports.alarming > self.alarm_limit)

    def weighed(self, supports: Supports) -> Weighed:
        """What a log speaks for; probabilities of categories and of causes add up to 1 each."""
        weights = Weights(
            np.array([self.shared[name] for name in SHARED]),
            np.array([_in_order(self.own[name]) for name in OWN]),
            np.array(_in_order(self.base)),
            np.array([self.causes[name] for name in SHARED]),
        )
        scores = category_scores(weights, supports.categories[None], supports.own[None])
        categories = softmax(scores / self.temperature)[0]
        best = int(categories.argmax())
        known = self.calibrations[supports.kind]
        right = float(np.interp(categories[best], known.probability, known.right))
        others = np.delete(categories, best)
        next_best = others.max() / others.sum()
        right = max(right, next_best / (1 + next_best) + _AHEAD)
        categories = categories * (1 - right) / others.sum()
        categories[best] = right
        within = cause_shares(weights, supports.causes[None], self.cause_temperature)[0]
        return Weighed(best, categories, categories[category_of_cause()] * within)

    def healthy(self, signs: Iterable[Sign]) -> float:
        """How probable it is that a run is healthy whose log has no finding, by what shows it."""
        weights = np.array([self.health[name] for name in HEALTH])
        return float(1.0 / (1.0 + np.exp(-self.health_base - weights @ shown_health(signs))))


def shown_health(signs: Iterable[Sign]) -> Mask:
    """Which of what shows health a log has, of shape (courses,)."""
    shown = {sign.id for sign in signs if sign.kind in ("progress", "sound")}
    return np.array([name in shown for name in HEALTH])


def by_category(values: Sequence[float]) -> dict[Category, float]:
    """Numbers in the order of categories, by their names."""
    return dict(zip(CATEGORIES, values, strict=True))


def _in_order(values: Mapping[Category, float]) -> list[float]:
    return [values[category] for category in CATEGORIES]


def logsumexp(scores: Array) -> Array:
    """``scipy.special.logsumexp`` by rows, to the last bit: reading a log takes no SciPy."""
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


def category_scores(weights: Weights, categories: Array, own: Array) -> Array:
    """Scores of shape (logs, categories)."""
    shared: Array = np.einsum("lkc,k->lc", categories, weights.shared)
    scores: Array = shared + own @ weights.own + weights.base
    return scores


def cause_scores(weights: Weights, causes: Array) -> Array:
    """Scores of shape (logs, causes), to be compared within a category."""
    scores: Array = np.einsum("lkc,k->lc", causes, weights.causes)
    return scores


def cause_shares(weights: Weights, causes: Array, temperature: float) -> Array:
    """Share of each cause among those of its category, of shape (logs, causes)."""
    scores = cause_scores(weights, causes) / temperature
    shares = np.empty_like(scores)
    of_category = category_of_cause()
    for category in range(len(CATEGORIES)):
        members = of_category == category
        shares[:, members] = softmax(scores[:, members])
    return shares


def write_model(path: Path, model: Model) -> None:
    """Write a model as JSON, its numbers to six digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rounded = json.loads(
        model.model_dump_json(), parse_float=lambda digits: float(f"{float(digits):.6g}")
    )
    content = Model.model_validate(rounded).model_dump_json(indent=1)
    path.write_text(content + "\n", encoding="utf-8")


def read_model(path: Path) -> Model:
    """Read a model."""
    remedy = "Restore it with `git checkout`, or run `dvc repro`."
    model = validated(Model, read_json(path, remedy), path, remedy)
    names = (model.shared, SHARED), (model.own, OWN), (model.health, HEALTH), (model.alarm, ALARM)
    if any(set(found) != set(expected) for found, expected in names):
        raise BadInputError(path, "own", "is of another version of the signs.", remedy)
    return model
