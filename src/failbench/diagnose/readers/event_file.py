"""Event files of TensorBoard, read without it, as it brings a server along with its reader.

A record is the length of its payload in 8 bytes, a checksum of these, the payload, and its checksum
(``tensorboard/summary/writer/record_writer.py``); a payload is an ``Event`` of Protocol Buffers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from typing import Final

from failbench.diagnose.readers.log import Collector, Log, Source
from failbench.diagnose.readers.names import POSITIONS, Meaning, meaning

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
    """Read the scalars whose tags stand for something; what follows a cut-off record is lost."""
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
    return Log((Source(name, FORMAT, records.read, tuple(notes)),), rows.rows(), ())


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
            name = tag.decode("utf-8", errors="replace") if isinstance(tag, bytes) else ""
            found = meaning(name)
            is_signal = found is not None and found.of not in POSITIONS
            if found and is_signal and scalar is not None and isinstance(step, int):
                rows.add(None, [(Meaning("step"), float(step)), (found, scalar)])


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
