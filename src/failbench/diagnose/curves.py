"""Curves: what every number of a log is the course of, from the words of its name or its values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import BeforeValidator

from failbench.base.arrays import Array
from failbench.base.records import Record, packaged_rows
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.numbers import NOWHERE, Name, Numbers, Places

Role = Literal[
    "loss", "rate", "error", "score", "margin", "learning_rate", "norm", "perplexity", "trainable",
    "time", "throughput", "memory", "summary", "other",
]  # fmt: skip
Part = Literal["train", "validation", "test", "chosen", "rejected"]

_LETTERS: Final = re.compile(r"[^\W\d_]+\d*")
_WITHOUT_SPACES: Final = 0x2E80  # letters of scripts that put none between words come after
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONG: Final = 5  # letters from which a word is found within compounds and inflections
_PARTS: Final[dict[str, Part]] = {  # in this order: ``eval_heldout`` is no validation
    **dict.fromkeys(
        "test teste prueba heldout held holdout external unseen тест テスト 测试".split(), "test"
    ),
    **dict.fromkeys(
        "val valid validation eval evaluation dev validación validação validierung validointi"
        " проверка валидация 検証 验证".split(),
        "validation",
    ),
    **dict.fromkeys("train training tr entrenamiento treino обучение 訓練 训练".split(), "train"),
    "chosen": "chosen",
    "rejected": "rejected",
}
# what is no count: whole numbers that never fall are places in the run, whatever their name
_MEASURED: Final = frozenset({"loss", "rate", "score", "time"})
# words beside a part that do not say what is measured
_FILLERS: Final = frozenset({"avg", "mean", "out", "average", "epoch", "step", "running"})


class _Words(Record):
    role: Role
    words: Annotated[tuple[str, ...], BeforeValidator(lambda cell: tuple(cell.split(";")))]


@cache
def _words() -> tuple[_Words, ...]:
    return tuple(packaged_rows("failbench.diagnose", "roles.csv", _Words))


def _is_said(word: str, name: str) -> bool:
    """Whether a name says a word; a long one may begin or end another, as in compounds."""
    if ord(word[0]) > _WITHOUT_SPACES:
        return word in name
    is_long = len(word) >= _LONG
    return f" {word} " in name or (is_long and (f" {word}" in name or f"{word} " in name))


@lru_cache(maxsize=4096)
def role_of(name: str) -> tuple[Role | None, Part | None]:
    """The role and the part of the data that a name tells; None where it does not.

    >>> role_of("val_acurácia"), role_of("Validierungsverlust"), role_of("rewards/margins")
    (('rate', 'validation'), ('loss', 'validation'), ('margin', None))
    >>> role_of("dev"), role_of("loss_scale")
    ((None, 'validation'), ('other', None))
    """
    words = [word.casefold() for word in _LETTERS.findall(_HUMPS.sub(" ", name))]
    said = f" {' '.join(words)} "
    part = next((of for word, of in _PARTS.items() if _is_said(word, said)), None)
    told = (row.role for row in _words() if any(_is_said(word, said) for word in row.words))
    is_bare = part is not None and all(word in _PARTS or word in _FILLERS for word in words)
    return next(told, None if is_bare else "other"), part


@dataclass(frozen=True)
class Curve:
    """The course of one number: its values, of shape (n,), and where each stands."""

    name: str
    role: Role
    part: Part | None
    values: Array
    lines: Places
    steps: Array
    source: int

    def __len__(self) -> int:
        return len(self.values)


def curves_of(log: Log) -> tuple[Curve, ...]:
    """Every curve of a log whose role is known, of the last run that a source holds."""
    return tuple(_curves(log.numbers))


def _curves(numbers: Numbers) -> Iterator[Curve]:
    key = np.stack([numbers.source, numbers.name])
    order = np.lexsort(key)
    bounds = np.flatnonzero(np.diff(key[:, order], axis=1, prepend=NOWHERE).any(axis=0))
    for at in np.split(order, bounds[1:]) if len(order) else ():
        name = numbers.names[numbers.name[at[0]]]
        at = at[numbers.run[at] == numbers.run[at[-1]]]
        role, part, values = _told(name, numbers.value[at])
        if role != "other":
            source = int(numbers.source[at[0]])
            yield Curve(name.text, role, part, values, numbers.line[at], numbers.step[at], source)


def _told(name: Name, values: Array) -> tuple[Role, Part | None, Array]:
    """Role and part of a curve, and its values as shares where they are per cent."""
    role, part = role_of(name.text)
    if name.meaning is not None and name.meaning.split is not None:
        part = part or name.meaning.split
    finite = values[np.isfinite(values)]
    if role is None or (role in _MEASURED and _counts(finite)):
        role = _seen(finite)
    if role in ("rate", "error") and len(finite):
        if not _is_within(finite, 100.0):
            role = "score"
        elif not _is_within(finite, 1.0):
            values = values / 100.0
    return role, part, values


def _seen(values: Array) -> Role:
    """What a number of one part of the data is, that has no other name: a share or a loss."""
    if not len(values) or _counts(values):
        return "other"
    return "rate" if values[-1] > values[0] and _is_within(values, 1.0) else "loss"


def _counts(values: Array) -> bool:
    """Whether values are whole numbers that never fall: steps, whatever their name."""
    is_whole = len(values) > 0 and bool((values == values.round()).all())
    return is_whole and values[-1] > max(values[0], 1.0) and bool((np.diff(values) >= 0).all())


def _is_within(values: Array, most: float) -> bool:
    return bool((values >= 0).all() and (values <= most).all())
