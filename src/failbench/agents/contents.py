"""Contents: what a log holds as a record for programs, and how a record is made to fit."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from failbench.base.records import Record
from failbench.diagnose.readers.log import Event, EventKind, Log, Source, summaries
from failbench.diagnose.readers.names import SignalName, Split
from failbench.diagnose.readers.traps import Trap, traps
from failbench.messages.catalogue import message_of

LONGEST: Final = 1_000  # letters of a text in a record that must fit in a room


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


class SignalRecord(Record):
    """How much a log holds of one signal on one split; null where a value is no finite number."""

    signal: SignalName
    split: Split
    values: int
    first_step: int | None
    last_step: int | None
    last_line: int | None
    last: Annotated[float | None, BeforeValidator(_finite)]
    lowest: float | None
    highest: float | None
    not_finite: int
    first_not_finite_step: int | None
    first_not_finite_line: int | None


class EventRecord(Record):
    """Something that a log says in words, and what is known of it."""

    kind: EventKind
    source: int
    line: int
    name: str
    message: str
    frames: tuple[str, ...]
    known_as: dict[str, str | tuple[str, ...] | None] | None


class Contents(Record):
    """What a log holds, before anything is made of it."""

    sources: tuple[Source, ...]
    signals: tuple[SignalRecord, ...]
    absent: tuple[SignalName, ...]
    traps: tuple[Trap, ...]
    events: tuple[EventRecord, ...]


def contents_of(log: Log, *, errors_first: bool = False) -> Contents:
    """What a log holds; with errors before warnings what is cut off the list says less."""
    events = sorted(log.events, key=lambda each: errors_first and each.kind == "warning")
    return Contents(
        sources=log.sources,
        signals=tuple(SignalRecord(**asdict(signal)) for signal in summaries(log)),
        absent=log.absent,
        traps=traps(log),
        events=tuple(map(_event, events)),
    )


def _event(event: Event) -> EventRecord:
    known = message_of(event.name, event.message)
    told = None if known is None else known.model_dump(exclude={"pattern", "said"})
    return EventRecord(**asdict(event), known_as=told)


def compact(record: object) -> str:
    """A record as JSON without blanks."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def fit(record: dict[str, Any], room: int) -> int:
    """Cut long texts of a record, then halve its heaviest list until its JSON fits in a room.

    A list keeps its first entry. Returns how many entries were left out.
    """
    for part in _parts(record):
        for place, each in part.items() if isinstance(part, dict) else enumerate(part):
            if isinstance(each, str) and len(each) > LONGEST:
                part[place] = f"{each[:LONGEST]} …"
    left_out = 0
    while len(compact(record)) > room:
        lists = [part for part in _parts(record) if isinstance(part, list) and len(part) > 1]
        if not lists:
            break
        heaviest = max(lists, key=lambda each: len(compact(each)))
        kept = len(heaviest) // 2
        left_out += len(heaviest) - kept
        del heaviest[kept:]
    return left_out


def _parts(value: Any) -> Iterator[Any]:
    """A dict or list, and all that are in it."""
    yield value
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _parts(each)
