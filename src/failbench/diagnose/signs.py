"""Signs: all that may speak for a cause, of users' logs and of those the model is fitted to."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from failbench.base.vocabulary import Category
from failbench.causes.support import Strength, places_of, supports
from failbench.diagnose.readers.log import NOWHERE, Event, Log
from failbench.diagnose.readers.names import BYTES, SIGNALS
from failbench.diagnose.readers.traps import traps
from failbench.diagnose.series import CheckBound, checked, series_of
from failbench.messages.catalogue import message_of
from failbench.monitor.breaks import Break, breaks
from failbench.monitor.diagnosis import decide
from failbench.monitor.endings import ENDINGS
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE, Bound

# a message that is known, and the kind of an event that is not; where an error was raised, and
# what called that; a trap; the size of a block that memory had no room for; a check; a signal
# that is not logged; of a monitor's log what broke, how it ended, and what decided
SignKind = Literal[
    "message", "event", "place", "around", "trap", "allocation", "check", "absent", "invariant",
    "ending", "decided",
]  # fmt: skip

LOGIC_ONLY: Final[Mapping[str, Bound]] = {}
# the innermost place of a traceback, and the one around it
PLACES: Final[tuple[SignKind, ...]] = ("place", "around")
FIRST_STEPS: Final = 3

# causes of a block that is out of proportion
BLOCK_TOO_LARGE: Final = (
    "tensor_blows_up", "batch_exceeds_memory", "evaluation_exceeds_memory", "model_exceeds_memory",
)  # fmt: skip

# of what is held: a block that is larger than everything before it is of no batch like others
OUT_OF_PROPORTION: Final = 1.0
VALIDATION: Final = "validation_loss"
# signals whose absence is a sign: it says what a log could not show
ABSENT: Final = (*SIGNALS, VALIDATION)

# what PyTorch's allocators, NumPy and TensorFlow say of a block and of the memory in use; from
# ``c10/cuda/CUDACachingAllocator.cpp``, ``c10/core/impl/alloc_cpu.cpp`` and ``numpy.exceptions``
_REQUESTED: Final = re.compile(
    r"(?:[Tt]ried to allocate|Unable to allocate|trying to allocate|failed to allocate)"
    r"\s(?P<size>\d{1,20}(?:\.\d{1,9})?)\s?(?P<unit>[KMGT]?i?B|bytes)"
)
_HELD: Final = re.compile(
    r"(?:this process has|[Oo]f the allocated memory)\s(?P<size>\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(?P<unit>[KMGT]?i?B)"
    r"|(?P<old>\d{1,9}(?:\.\d{1,9})?)\s?(?P<old_unit>[KMGT]?i?B) already allocated"
)

_UNITS: Final = {"B": 1.0, "bytes": 1.0} | BYTES
_BYTES: Final = 2.0**20  # a training holds more than this; a smaller number is in another unit


@dataclass(frozen=True)
class Sign:
    """One thing in a log."""

    kind: SignKind
    id: str
    strength: Strength = "circumstantial"
    causes: tuple[str, ...] = ()
    category: Category | None = None
    amount: float = 1.0
    is_warning: bool = False


@dataclass(frozen=True)
class Allocation:
    """A block that was asked for, and what was held beside it."""

    requested: float
    held: float
    event: Event


def signs_of(log: Log, fitted: Mapping[str, Bound] = LOGIC_ONLY) -> tuple[Sign, ...]:
    """All signs of a log."""
    signs = [*_of_events(log.events)]
    signs += [Sign("trap", trap.kind, causes=trap.causes) for trap in traps(log)]
    for each in checked(log):
        check, amount = each.check, each.most_extreme()
        if amount is not None:
            signs.append(Sign("check", check.id, check.strength, check.causes, amount=amount))
    if block_too_large(log) is not None:
        signs.append(Sign("allocation", "out_of_proportion", causes=BLOCK_TOO_LARGE))
    if _fails_at_start(log):
        signs.append(Sign("event", "at_start"))
    validation = (VALIDATION,) if len(log.series("loss", "validation")) else ()
    present = (*log.present, *validation)
    signs += [Sign("absent", name) for name in ABSENT if name not in present]
    if log.history is not None:
        signs += _of_history(log.history, breaks(log.history, CATALOGUE, fitted))
    return tuple({(sign.kind, sign.id): sign for sign in reversed(signs)}.values())[::-1]


def _of_events(events: tuple[Event, ...]) -> Iterator[Sign]:
    for event in events:
        known = message_of(event.name, event.message)
        if known is not None:
            yield Sign(
                "message", known.id, known.strength, known.causes, known.category,
                is_warning=event.kind == "warning",
            )  # fmt: skip
        elif event.kind != "warning":
            yield Sign("event", event.kind)
        if event.kind == "exception":
            for place, kind in zip(places_of(event.frames), PLACES, strict=False):
                yield Sign(kind, place.id, causes=place.causes, category=place.component)


def _fails_at_start(log: Log) -> bool:
    """Whether an error was raised within the first steps: what is wrong is there from the start."""
    last = log.rows.step.max(initial=NOWHERE)
    is_error = any(event.kind == "exception" for event in log.events)
    return is_error and bool(NOWHERE < last < FIRST_STEPS)


def _of_history(history: History, broken: tuple[Break, ...]) -> Iterator[Sign]:
    of_invariants = supports("invariant")
    for each in broken:
        known, support = each.invariant, of_invariants[each.invariant.id]
        yield Sign("invariant", known.id, support.strength, support.causes, known.component)
    decided_by = decide(broken, history.end, ENDINGS)
    if isinstance(decided_by, Break):
        known, support = decided_by.invariant, of_invariants[decided_by.invariant.id]
        yield Sign("decided", known.kind, support.strength, support.causes, known.component)
    elif decided_by is not None:
        support, lies_in = supports("ending")[decided_by.id], decided_by.component
        yield Sign("ending", decided_by.id, support.strength, support.causes, lies_in)
        yield Sign("decided", "ending", support.strength, support.causes, lies_in)


def block_too_large(log: Log) -> Allocation | None:
    """The last block that memory had no room for, if it alone is larger than all that was held."""
    for event in reversed(log.events):
        requested = _REQUESTED.search(event.message)
        held = (_held_in(event.message) or _held_before(log)) if requested else None
        if requested and held:
            size = float(requested["size"]) * _UNITS[requested["unit"]]
            return Allocation(size, held, event) if size > OUT_OF_PROPORTION * held else None
    return None


def _held_in(message: str) -> float | None:
    said = _HELD.search(message)
    if said is None:
        return None
    size, unit = said["size"] or said["old"], said["unit"] or said["old_unit"]
    return float(size) * _UNITS[unit]


def _held_before(log: Log) -> float | None:
    """The last memory that was logged, where it is in bytes: a number without a unit may be any."""
    memory = series_of(log).get("memory")
    return float(memory.values[-1]) if memory and memory.values[-1] > _BYTES else None


def is_alarm(says_end: bool, signs: Iterable[Sign], bounds: Mapping[str, CheckBound]) -> bool:
    """Whether something is wrong: a log says of an error or an end, or a sign alarms by itself."""
    return says_end or any(_alarms(sign, bounds) for sign in signs)


def _alarms(sign: Sign, bounds: Mapping[str, CheckBound]) -> bool:
    """Whether a sign alone says that something is wrong: a trap does that speaks for a cause."""
    if sign.kind == "check":
        return breaks_bound(sign, bounds)
    if sign.kind == "message":
        return sign.strength == "direct"
    return sign.kind in ("trap", "invariant", "ending") and bool(sign.causes)


def breaks_bound(sign: Sign, bounds: Mapping[str, CheckBound]) -> bool:
    """Whether the sign of a check lies beyond its bound; without one nothing does."""
    return sign.id in bounds and sign.amount > bounds[sign.id].limit
