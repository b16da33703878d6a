"""Simpler answers to the logs of others, by a part of what the model reads: what it must beat."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, Literal

from failbench.base.vocabulary import ABSTAIN, Category
from failbench.causes.catalogue import causes
from failbench.diagnose.known import KnownLog
from failbench.diagnose.signs import Sign
from failbench.diagnose.words import no_words
from failbench.messages.catalogue import messages
from shared.diagnose_logs import MESSAGES, SYMPTOM

Symptom = Literal["death", "exception", "not finite", "nothing"]
_SYSTEMS: Final = frozenset({"linux", "kubernetes", "docker", "slurm", "mpi", "clouds"})
_LOST: Final = ("not_finite", "nan_", "hidden_nan")
_WEAK: Final = "circumstantial"
_OF_NUMBERS: Final = ("trap", "progress", "sound", "unmeasured", "check", "absent")


def simple_answers(logs: Sequence[KnownLog]) -> Iterator[dict[str, Any]]:
    """The category that the symptom has most often with others, and that of the first message."""
    symptoms = [symptom_of(log.signs) for log in logs]
    for log, symptom in zip(logs, symptoms, strict=True):
        about: dict[str, Any] = {
            "corpus": log.setting, "log": log.scenario, "group": log.group,
            "category": log.category, "cause": log.cause,
        }  # fmt: skip
        others = [
            (seen == symptom, other.category)
            for other, seen in zip(logs, symptoms, strict=True)
            if other.category and other.setting == log.setting and other.group != log.group
        ]
        alike = [category for is_alike, category in others if is_alike]
        met = Counter(alike or [category for _, category in others])
        first = min(met, key=lambda name: (-met[name], name), default=ABSTAIN)
        yield {**about, "learnt": SYMPTOM, "alarm": symptom != "nothing", "prediction": first}
        said = message_in(log.signs)
        named = None if said is None else said.category or causes()[said.causes[0]].category
        is_error = said is not None and not said.is_warning
        yield {**about, "learnt": MESSAGES, "alarm": is_error, "prediction": named or ABSTAIN}


@cache
def of_system() -> frozenset[str]:
    """Messages of systems and clusters: a process dies of them, and raises nothing."""
    return frozenset(each.id for each in messages() if _SYSTEMS & {*each.library.split(", ")})


def symptom_of(signs: Sequence[Sign]) -> Symptom:
    """How a log ends, as far as signs say."""
    ends = [sign for sign in signs if sign.kind in ("message", "event") and not sign.is_warning]
    if any(sign.id == "death" or sign.id in of_system() for sign in ends):
        return "death"
    if any(sign.id != "at_start" for sign in ends):
        return "exception"
    found = (sign for sign in signs if sign.kind in ("check", "trap") and sign.amount > 0)
    return "not finite" if any(part in sign.id for sign in found for part in _LOST) else "nothing"


def message_in(signs: Sequence[Sign]) -> Sign | None:
    """The first error that the catalogue knows, else the first warning."""
    known = [sign for sign in signs if sign.kind == "message"]
    return min(known, key=lambda sign: sign.is_warning, default=None)


def components(signs: Sequence[Sign], cause: str, by_nature: Sequence[str]) -> list[Category]:
    """Of which components the items of a log are, each once, in the order in which they are shown.

    First comes what speaks for the cause that is named; last, what breaks in healthy runs too.
    """
    kinds = ("invariant", "message", "ending", "place", "trap")
    said = [sign for sign in signs if not sign.is_warning and (sign.category or sign.causes)]
    items = [sign for kind in kinds for sign in said if sign.kind == kind]
    items.sort(key=lambda sign: sign.kind == "invariant" and sign.id in by_nature)
    of_cause = [sign for sign in items if cause in sign.causes]
    of_cause.sort(key=lambda sign: (sign.strength != "direct", sign.causes.index(cause)))
    shown = (each.category or causes()[each.causes[0]].category for each in (*of_cause, *items))
    return [*dict.fromkeys(shown)]


def in_groups(logs: Iterable[KnownLog]) -> dict[str, list[KnownLog]]:
    """Logs by whom they are of."""
    found: dict[str, list[KnownLog]] = {}
    for log in logs:
        found.setdefault(log.group, []).append(log)
    return found


def curves_alone(log: KnownLog) -> KnownLog:
    """A log without what it says in words."""
    of_numbers = tuple(sign for sign in log.signs if sign.kind in _OF_NUMBERS)
    return replace(log, signs=of_numbers, words=no_words(), teaches_words=False)


def _event(message: Sign) -> str:
    """What a message is of to who does not know it."""
    return "death" if message.id in of_system() else "exception"


def without_messages(log: KnownLog) -> KnownLog:
    """A log as it is to who has no catalogue of messages: an error is an error."""
    signs = (
        replace(sign, kind="event", id=_event(sign), causes=(), category=None, strength=_WEAK)
        if sign.kind == "message" and not sign.is_warning
        else sign
        for sign in log.signs
        if sign.kind != "message" or not sign.is_warning
    )
    return replace(log, signs=tuple(signs))
