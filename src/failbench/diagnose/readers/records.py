"""Records: measurements that programs wrote for programs, event files of TensorBoard included."""

import json
import math
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from failbench.base.errors import BadInputError
from failbench.base.extras import of_extra
from failbench.diagnose.readers.excerpt import without_numbers
from failbench.diagnose.readers.lines import Line
from failbench.diagnose.readers.log import Event, EventKind, Log, Source, rows_of
from failbench.diagnose.readers.names import POSITIONS, Meaning, meaning, number
from failbench.diagnose.readers.numbers import Collector, Name, known_name
from failbench.diagnose.readers.text import NO_HINTS, Hints, read_text
from failbench.monitor.history import History

LARGEST: Final = 256 * 2**20  # bytes of a document that is read whole
# values of a document that is read: each takes some 70 to 200 bytes of memory, however short
MOST_VALUES: Final = 10_000_000
RUNS: Final = "runs.parquet"  # by which a folder is known as recorded telemetry
_STATE: Final = "log_history"
_CUT: Final = "Its end is cut off, as it is where a process was killed: what stands before is read."
# keys under which documents keep what was measured; the first is the Trainer's
_WRAPPERS: Final = (_STATE, "history", "metrics", "logs", "data")

# what a monitor calls the signals of a row
_MONITORED: Final = {
    "loss": Meaning("loss", "train"),
    "gradient_norm": Meaning("grad_norm", "train"),
    "learning_rate": Meaning("learning_rate", "train"),
    "memory": Meaning("memory", "train"),
    "evaluation_loss": Meaning("loss", "validation"),
}
_STEP_NAME: Final = Name("step", Meaning("step"))

_HTML_ROW: Final = re.compile(r"<tr\b[^>]{0,200}>(.{0,20000}?)</tr>", re.DOTALL)
_HTML_CELL: Final = re.compile(r"<t[hd]\b[^>]{0,200}>(.{0,2000}?)</t[hd]>", re.DOTALL)
_HTML_TAG: Final = re.compile(r"<[^>]{0,200}>")

_ENDS: Final[dict[str, EventKind]] = {
    **dict.fromkeys(("exception", "out of memory"), "exception"),
    **dict.fromkeys(("killed", "hung"), "death"),
}

_RECORDED: Final = {
    "loss": Meaning("loss"),
    "gradient_norm": Meaning("grad_norm"),
    "learning_rate": Meaning("learning_rate"),
    "memory_bytes": Meaning("memory"),
    "throughput": Meaning("throughput"),
    "validation_loss": Meaning("loss", "validation"),
    "step": Meaning("step"),
}
_SHOWN: Final = 3  # runs that an error names


def read_document(name: str, text: str, hints: Hints = NO_HINTS) -> Log | None:
    """Read a notebook, a list of objects or curves of equal length; None if it is none of these."""
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        return None
    document, notes = _document(text)
    if isinstance(document, dict) and isinstance(cells := document.get("cells"), list):
        return _read_notebook(name, cells, hints)
    collected = Collector()
    for record in _records(document):
        values = [
            (Name(key, meaning(key) or meaning(key.removesuffix("s"))), logged)
            for key, value in record.items()
            if (logged := _number(value)) is not None
        ]
        collected.say(None, values)
    is_state = isinstance(document, dict) and _STATE in document
    read_as = "trainer_state" if is_state else "JSON document"
    lines = text.count("\n") + 1
    log = Log((Source(name, read_as, lines, notes),), collected.numbers(), ())
    return log if len(log.rows) else None


def _document(text: str) -> tuple[object, tuple[str, ...]]:
    """What JSON says and how it was read; None where it says nothing, or is none.

    A process that was killed leaves objects of a list, and not the end of the list.
    """
    try:
        return json.loads(text), ()
    except (ValueError, RecursionError) as error:
        if str(error).startswith("Extra data"):  # lines of JSON
            return None, ()
    try:
        return json.loads(text[: text.rfind("}") + 1] + ("]}" if text[:1] == "{" else "]")), (_CUT,)
    except (ValueError, RecursionError):
        return None, ()


def _read_notebook(name: str, cells: list[object], hints: Hints) -> Log:
    """Read the outputs of a notebook's cells, one after another."""
    outputs = [output for cell in cells for output in _items(cell, "outputs")]
    text = "\n".join(part for output in outputs for part in _shown(output))
    log = read_text(name, [text.encode("utf-8", errors="replace")], hints)
    (source,) = log.sources
    notes = ("Lines are those of the outputs of its cells, one after another.", *source.notes)
    source = replace(source, format=f"notebook, {source.format}", notes=notes)
    return replace(log, sources=(source,))


def _items(value: object, key: str) -> list[object]:
    """What a list in an object holds, or nothing."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _shown(output: object) -> Iterator[str]:
    """What an output of a cell shows: its stream, its traceback, its table or its text."""
    if not isinstance(output, dict):
        return
    yield "\n".join(map(str, _items(output, "traceback")))
    data = output.get("data")
    data = data if isinstance(data, dict) else {}
    html = _joined(data.get("text/html"))
    if rows := _HTML_ROW.findall(html):  # the Trainer shows losses in one
        for row in rows:
            cells = (_HTML_TAG.sub("", cell).strip() for cell in _HTML_CELL.findall(row))
            yield "| " + " | ".join(cells) + " |"
    else:
        yield _joined(data.get("text/plain"))
    yield _joined(output.get("text"))


def _joined(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")


def _records(document: object) -> Iterator[Mapping[str, object]]:
    """The objects of a document, one for each time of measurement."""
    inner = document
    if isinstance(document, dict):
        inner = next((document[key] for key in _WRAPPERS if key in document), document)
    if isinstance(inner, list):
        yield from (record for record in inner if isinstance(record, dict))
    elif isinstance(inner, dict):
        curves = {name: values for name, values in inner.items() if isinstance(values, list)}
        for at in range(max(map(len, curves.values()), default=0)):
            yield {name: values[at] for name, values in curves.items() if at < len(values)}


def _number(value: object) -> float | None:
    if isinstance(value, str):
        return number(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def read_metric(name: str, key: str, lines: Iterator[Line]) -> Log | None:
    """Read a metric of MLflow (lines of milliseconds, value, step); None if its key is unknown."""
    found = known_name(key)
    if found.meaning is None:
        return None
    rows, last = Collector(), 0
    for last, text in lines:
        value, step = ([number(cell) for cell in text.split()[1:3]] + [None, None])[:2]
        if value is not None and step is not None:
            rows.say(last, [(found, value), (_STEP_NAME, step)])
    return Log((Source(name, "MLflow metric", last),), rows.numbers(), ())


def log_of_history(name: str, history: History) -> Log:
    """What a monitor measured, of which rows hold the signals that other logs have too."""
    collected = Collector()
    for row in history.rows:
        measured = ((known, row.values.get(known)) for known in _MONITORED)
        values = [(Name(known, _MONITORED[known]), at) for known, at in measured if at is not None]
        collected.say(None, [(_STEP_NAME, float(row.step)), *values])
    last = {change.measurement: change for change in history.thinned}
    notes = (
        *(f"{signal} was not measured: {why}" for signal, why in history.off.items()),
        *(
            f"{name}: each {change.every} steps from step {change.step} on, to keep to the "
            f"monitor's budget; as often as without one takes {change.share:.1%} of the loop's time"
            for name, change in last.items()
        ),
    )
    numbers, end = collected.numbers(), history.end
    source = Source(name, "monitor", len(rows_of(numbers)), notes)
    said = end.message or f"The run was {end.kind} in the phase {end.phase} of step {end.step}."
    events = (Event(_ENDS[end.kind], 0, 0, end.error, said),) if end.failed else ()
    words = "\n".join(map(without_numbers, f"{end.error}: {end.message}".splitlines()))
    return Log((source,), numbers, events, history, words if end.error else "")


def read_recorded(folder: Path, run: str | None) -> Log:
    """Read one run of a folder of telemetry: throughput in tokens per second, memory in bytes."""
    with of_extra("recorded telemetry"):
        import polars as pl

        from failbench.base.telemetry import read_telemetry
    recorded = read_telemetry(folder)
    runs = recorded.runs["run_id"].to_list()
    if run is None and len(runs) == 1:
        run = runs[0]
    if run not in runs:
        named = "no run is named" if run is None else f"{run!r} is no run of it"
        examples = ", ".join(runs[:_SHOWN])
        problem = f"{named}, and it has {len(runs):,}."
        remedy = f"Name one with --run: {examples}, ..."
        raise BadInputError(folder / RUNS, "run_id", problem, remedy)
    telemetry = recorded.select(pl.col("run_id") == run)
    steps = telemetry.steps.with_columns(throughput=pl.col("tokens") / pl.col("step_seconds"))
    collected = Collector()
    names = [Name(name, found) for name, found in _RECORDED.items()]
    for row in steps.sort("step").select(*_RECORDED).iter_rows():
        measured = zip(names, row, strict=True)
        collected.say(None, [(name, value) for name, value in measured if value is not None])
    (facts,) = telemetry.runs.to_dicts()
    source = Source(str(run), "recorded telemetry", steps.height)
    return Log((source,), collected.numbers(), _end_of_recorded(facts))


def _end_of_recorded(facts: dict[str, Any]) -> tuple[Event, ...]:
    """How the run ended, if an exception or a signal ended it."""
    if facts["error_type"] is not None:
        message = facts["error_message"] or ""
        return (Event("exception", 0, 0, facts["error_type"], message),)
    if facts["ending"] == "timeout":  # the signal that ended it is the recorder's own
        return (Event("death", 0, 0, "", "The run made no progress any more and was ended."),)
    if facts["exit_signal"] is not None:
        return (Event("death", 0, 0, facts["exit_signal"], "The process was ended by a signal."),)
    return ()


FORMAT: Final = "TensorBoard events"
# what the first record of every file holds, with the version behind it
MARK: Final = b"brain.Event:"
NAMED: Final = ".tfevents."
# bytes; images and histograms are smaller, and a longer record is damage
LARGEST_RECORD: Final = 64 * 2**20
# numbers of the fields of ``Event``, ``Summary``, ``Summary.Value`` and ``TensorProto``
_STEP, _SUMMARY = 2, 5
_VALUE = 1
_TAG, _SIMPLE, _TENSOR = 1, 2, 8
_TYPE, _CONTENT, _FLOATS, _DOUBLES = 1, 4, 5, 6
_FLOAT, _DOUBLE = 1, 2  # types of a tensor
Field = tuple[int, int | bytes]


def is_event_file(head: bytes) -> bool:
    """Whether a file that begins like this is one."""
    return MARK in head[:64]


def read_events(name: str, chunks: Iterable[bytes]) -> Log:
    """Read the scalars; what follows a cut-off record is lost."""
    rows, records = Collector(), _Records(chunks)
    for payload in records:
        try:
            _add(rows, payload)
        except (ValueError, IndexError, struct.error):
            records.damaged += 1
    notes = []
    if records.cut:
        notes.append("The last record is cut off, as it is where a process was killed.")
    if records.damaged:
        notes.append(f"{records.damaged:,} records are damaged and were left out.")
    return Log((Source(name, FORMAT, records.read, tuple(notes)),), rows.numbers(), ())


class _Records:
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._held = bytearray()
        self.read = self.damaged = 0
        self.cut = False

    def __iter__(self) -> Iterator[bytes]:
        while head := self._take(12):
            size = int.from_bytes(head[:8], "little")
            payload = self._take(size + 4) if len(head) == 12 and size <= LARGEST_RECORD else b""
            if len(payload) < size + 4:
                self.cut = True
                return
            self.read += 1
            yield payload[:-4]

    def _take(self, size: int) -> bytes:
        """So many bytes, or as many as are left."""
        while len(self._held) < size and (more := next(self._chunks, b"")):
            self._held += more
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken


def _add(rows: Collector, payload: bytes) -> None:
    event = _fields(payload)
    step = next((value for number, value in event if number == _STEP), 0)
    for summary in _messages(event, _SUMMARY):
        for value in _messages(_fields(summary), _VALUE):
            fields = dict(_fields(value))
            tag, scalar = fields.get(_TAG), _scalar(fields)
            text = tag.decode("utf-8", errors="replace") if isinstance(tag, bytes) else ""
            name = known_name(text)
            is_position = name.meaning is not None and name.meaning.of in POSITIONS
            if text and not is_position and scalar is not None and isinstance(step, int):
                rows.say(None, [(_STEP_NAME, float(step)), (name, scalar)])


def _messages(fields: list[Field], number: int) -> Iterator[bytes]:
    """The messages in a field that may be repeated."""
    return (each for at, each in fields if at == number and isinstance(each, bytes))


def _scalar(fields: dict[int, int | bytes]) -> float | None:
    """The number of a value: by itself, or as a tensor of one number."""
    simple, tensor = fields.get(_SIMPLE), fields.get(_TENSOR)
    if isinstance(simple, bytes) and len(simple) == 4:
        return float(struct.unpack("<f", simple)[0])
    if not isinstance(tensor, bytes):
        return None
    parts = dict(_fields(tensor))
    form, size = ("<d", 8) if parts.get(_TYPE) == _DOUBLE else ("<f", 4)
    for part in (_CONTENT, _FLOATS if size == 4 else _DOUBLES):
        data = parts.get(part)
        if parts.get(_TYPE) in (_FLOAT, _DOUBLE) and isinstance(data, bytes) and len(data) == size:
            return float(struct.unpack(form, data)[0])
    return None


def _fields(data: bytes) -> list[Field]:
    """The fields of a message of Protocol Buffers: numbers as such, all else as bytes."""
    fields: list[Field] = []
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        value: int | bytes
        if kind == 0:
            value, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind, math.nan)
            if kind == 2:
                size, at = _varint(data, at)
            if not size <= len(data) - at:
                raise ValueError("A field ends beyond its message.")
            value, at = data[at : at + int(size)], at + int(size)
        fields.append((number, value))
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits to the byte, and where it ends."""
    value = 0
    for place, byte in enumerate(data[at : at + 10]):
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    raise ValueError("A number does not end.")
