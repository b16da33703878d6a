"""Event files of TensorBoard, written byte by byte: its writers bring a server along."""

from __future__ import annotations

import struct
from collections import defaultdict
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from failbench.neighbours.rendering.tracebacks import declared
from failbench.neighbours.rendering.writer import Files, Writer

STARTED: Final = 1_770_000_000.0
"""Seconds since 1970 at which every run begins."""

_FILE: Final = "events.out.tfevents.1770000000.node01.4711.0"
_POLYNOMIAL: Final = 0x82F63B78
"""Of CRC-32C, in reversed order of bits."""
_MASK: Final = 0xA282EAD8


def tensorboard(log: Writer) -> Files:
    """An event file; that of a killed process ends within its last record."""
    known = declared("tags.json")
    tags = known[log.rng.integers(len(known))]
    share = float(log.rng.random())
    times = STARTED + np.cumsum(log.run.seconds)
    payloads = [b"\x09" + struct.pack("<d", STARTED) + b"\x1a\x0dbrain.Event:2"]
    for entry in log.entries():
        payloads += [
            scalar(tags[name].encode(), value, entry.step, float(times[entry.index]))
            for name, value in entry.measured.items()
        ]
    data = records(payloads)
    if log.run.ending.kind == "death" and len(payloads) > 1:
        data = data[: -1 - int(share * (len(payloads[-1]) + 14))]
    return {f"runs/{_FILE}": data, **log.beside()}


def scalar(tag: bytes, value: float, step: int, time: float) -> bytes:
    """An ``Event`` with one ``simple_value``, in the encoding of Protocol Buffers."""
    with np.errstate(over="ignore"):
        number = struct.pack("<f", float(np.float32(value)))
    inner = b"\x0a" + _varint(len(tag)) + tag + b"\x15" + number
    summary = b"\x0a" + _varint(len(inner)) + inner
    place = b"\x10" + _varint(step) if step else b""
    return b"\x09" + struct.pack("<d", time) + place + b"\x2a" + _varint(len(summary)) + summary


def records(payloads: list[bytes]) -> bytes:
    """Payloads with their lengths and masked checksums, as TFRecord has them."""
    heads = [len(payload).to_bytes(8, "little") for payload in payloads]
    sums = zip(masked_checksums(heads), masked_checksums(payloads), strict=True)
    return b"".join(
        head + of_head + payload + of_payload
        for head, payload, (of_head, of_payload) in zip(heads, payloads, sums, strict=True)
    )


def masked_checksums(texts: list[bytes]) -> list[bytes]:
    """The masked CRC-32C of each text, in four bytes.

    >>> masked_checksums([b"123456789"])[0].hex()
    'e5b08ac7'
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        groups[len(text)].append(place)
    found = np.zeros(len(texts), dtype=np.uint32)
    for length, places in groups.items():
        joined = b"".join(texts[place] for place in places)
        letters = np.frombuffer(joined, dtype=np.uint8).reshape(len(places), length)
        found[places] = _checksums(letters)
    masked = ((found >> np.uint32(15)) | (found << np.uint32(17))) + np.uint32(_MASK)
    data = masked.astype("<u4").tobytes()
    return [data[at : at + 4] for at in range(0, len(data), 4)]


def _checksums(letters: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The CRC-32C of each row of letters."""
    table = _table()
    state = np.full(letters.shape[0], 0xFFFFFFFF, dtype=np.uint32)
    for column in letters.T:
        state = table[(state ^ column) & np.uint32(0xFF)] ^ (state >> np.uint32(8))
    return state ^ np.uint32(0xFFFFFFFF)


@cache
def _table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table.astype(np.uint32)


def _varint(value: int) -> bytes:
    if value < 128:
        return bytes((value,))
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)
