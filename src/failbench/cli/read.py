"""The command ``read``: what a log of any format holds, before anything is made of it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from failbench.diagnose.readers.log import Event, Log, SignalSummary
    from failbench.diagnose.readers.traps import Trap

_OF_MESSAGE: Final = (
    "id",
    "library",
    "meaning",
    "category",
    "also",
    "causes",
    "strength",
    "check",
    "source",
)

MESSAGE: Final = 300
"""Letters of a message that are shown; ``--json`` has all that was read."""


def read_any_log(*, log: Path, run_id: str | None, as_json: bool) -> int:
    """Print the signals, gaps and events of a log."""
    from failbench.diagnose.readers.lines import clean
    from failbench.diagnose.readers.log import summaries
    from failbench.diagnose.readers.opening import read_log
    from failbench.diagnose.readers.traps import traps

    read = read_log(log, run_id)
    parts = read, summaries(read), traps(read)
    print(_record(*parts) if as_json else clean(_page(*parts)))
    return 0


def _record(log: Log, signals: list[SignalSummary], traps: tuple[Trap, ...]) -> str:
    """The log as JSON, whose numbers are finite: what is not is counted, and null."""
    record = {
        "sources": [asdict(source) for source in log.sources],
        "signals": [
            {key: _finite(value) for key, value in asdict(signal).items()} for signal in signals
        ],
        "absent": log.absent,
        "traps": [asdict(trap) for trap in traps],
        "events": [{**asdict(event), "known_as": _known(event)} for event in log.events],
    }
    return json.dumps(record, indent=2, allow_nan=False)


def _known(event: Event) -> dict[str, object] | None:
    """What is known of the message of an event."""
    from failbench.messages.catalogue import message_of

    known = message_of(event.name, event.message)
    if known is None:
        return None
    return {name: getattr(known, name) for name in _OF_MESSAGE}


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _page(log: Log, signals: list[SignalSummary], traps: tuple[Trap, ...]) -> str:
    lines = []
    for source in log.sources:
        lines.append(f"{source.name}: {source.format}, {source.lines:,} lines")
        lines += [f"  {note}" for note in source.notes]
    lines += [_signal_line(signal) for signal in signals]
    if log.absent:
        lines.append(f"not logged: {', '.join(log.absent)}")
    for trap in traps:
        step = "" if trap.step is None else f" at step {trap.step}"
        lines.append(f"{trap.kind}{step}{_place(trap.line)}, {trap.rows:,} times: {trap.meaning}")
    for event in log.events:
        lines.append(_event_line(log, event))
        if known := _known(event):
            lines += [f"  means: {known['meaning']}", f"  look: {known['check']}"]
    return "\n".join(lines)


def _signal_line(signal: SignalSummary) -> str:
    steps = "steps not logged"
    if signal.first_step is not None:
        steps = f"steps {signal.first_step} to {signal.last_step}"
    text = (
        f"{signal.signal} ({signal.split}): {signal.values:,} values, {steps}, "
        f"last {signal.last:g}{_place(signal.last_line)}"
    )
    if signal.lowest is not None:
        text += f", from {signal.lowest:g} to {signal.highest:g}"
    if signal.not_finite:
        first = signal.first_not_finite_step
        step = "" if first is None else f" at step {first}"
        text += (
            f"; {signal.not_finite:,} not finite, the first{step}"
            f"{_place(signal.first_not_finite_line)}"
        )
    return text


def _place(line: int | None) -> str:
    return "" if line is None else f" (line {line})"


def _event_line(log: Log, event: Event) -> str:
    place = log.sources[event.source].name + (f":{event.line}" if event.line else "")
    head = event.message.split("\n", 1)[0][:MESSAGE]
    said = ": ".join(part for part in (event.name, head) if part) or "a traceback that is cut off"
    raised = f", raised at {event.frames[-1]}" if event.frames else ""
    return f"{place}: {said}{raised}"
