"""Excerpt: the words of a log without its numbers and paths, of a long one its two ends.

Lines that differ in numbers alone are kept once, so that an hour of progress weighs as a minute.
"""

import re
from collections import deque
from typing import Final

HEAD, TAIL = 3_000, 5_000
"""Letters that are kept of the beginning and of the end."""

_LINES: Final = 400  # lines of the end among which those that are kept are looked for
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+){0,9}(?:e[-+]?\d+)?")
_PATH: Final = re.compile(r"(?:/[\w.\-]+)+/")
_SPACE: Final = re.compile(r"[ \t]+")
_RULER: Final = re.compile(r"([-=_#*^~|\u2500-\u257f\u2581-\u258f])\1+")


class Excerpt:
    """Gathers the words of lines that are fed to it one by one."""

    def __init__(self) -> None:
        self._head: dict[str, None] = {}
        self._size = 0
        self._tail: deque[str] = deque(maxlen=_LINES)

    def feed(self, line: str) -> None:
        """Take a line."""
        if self._size >= HEAD:
            self._tail.append(line)
            return
        words = without_numbers(line)
        if words not in self._head:
            self._head[words] = None
            self._size += len(words) + 1

    @property
    def text(self) -> str:
        """What was kept, a line for each form."""
        last = dict.fromkeys(map(without_numbers, self._tail))
        end = "\n".join(words for words in last if words not in self._head)
        return "\n".join([*self._head, end[-TAIL:]]).strip()


def without_numbers(line: str) -> str:
    """The words of a line, small; a number is 0, and of a path the last part is left.

    >>> without_numbers("Epoch 3: loss=1.25e-3 in /home/me/train.py ======")
    'epoch 0: loss=0 in /train.py ='
    """
    line = _NUMBER.sub("0", line.lower())
    return _RULER.sub(r"\1", _SPACE.sub(" ", _PATH.sub("/", line))).strip()
