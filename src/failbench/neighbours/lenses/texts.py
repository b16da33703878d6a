"""Texts: how far they compress, how much in them was there before, whether they end in a loop."""

from __future__ import annotations

import zlib
from typing import Final

LEVEL: Final = 9

EMPTY: Final = len(zlib.compress(b"", LEVEL))
"""Bytes of header, checksum and the block of an empty text, which every text has."""

BLOCK: Final = 8
"""Letters of the blocks of which repetition is counted."""

COPIES: Final = 3
"""Of a block in a row, for a loop."""

LEAST_LOOP: Final = 16
"""Letters of a loop."""


def compressed_bytes(text: str) -> int:
    """Bytes of zlib at level 9 for the UTF-8 of a text, less those of an empty one."""
    return len(zlib.compress(text.encode("utf-8", "surrogatepass"), LEVEL)) - EMPTY


def repetition(text: str) -> float:
    """Share of the blocks of eight letters that were there before; 0 for a shorter text.

    >>> repetition("abcdefgh"), repetition("abcdefgh" * 2)
    (0.0, 0.1111111111111111)
    """
    blocks = len(text) - BLOCK + 1
    if blocks < 1:
        return 0.0
    return (blocks - len({text[at : at + BLOCK] for at in range(blocks)})) / blocks


def ends_in_loop(text: str) -> bool:
    """Whether half of a text or more, and 16 letters or more, is a block three times in a row.

    >>> ends_in_loop("12+3=15;" + "7;" * 12), ends_in_loop("1" * 6)
    (True, False)
    """
    return loop_letters(text) >= max(LEAST_LOOP, len(text) / 2)


def loop_letters(text: str) -> int:
    """Letters at the end of a text that are one block three times or more in a row.

    The last copy may be cut off, as a budget does. The text is read backwards: how far it agrees
    with itself, shifted by a block, is its Z-function there (Gusfield, 1997, "Algorithms on
    strings, trees and sequences", section 1.4).
    """
    backwards = text[::-1]
    agreement = _z_function(backwards)
    longest = 0
    for block in range(1, len(text) // COPIES + 1):
        letters = agreement[block] + block
        if letters >= COPIES * block:
            longest = max(longest, letters)
    return longest


def _z_function(text: str) -> list[int]:
    """How many letters from each place on agree with the beginning."""
    agreement = [0] * len(text)
    left = right = 0
    for at in range(1, len(text)):
        known = min(right - at, agreement[at - left]) if at < right else 0
        while at + known < len(text) and text[known] == text[at + known]:
            known += 1
        agreement[at] = known
        if at + known > right:
            left, right = at, at + known
    return agreement
