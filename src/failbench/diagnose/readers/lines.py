"""Lines of a log: what a person saw in the terminal, with the number of each."""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, Final, NamedTuple

LONGEST_LINE: Final = 10_000  # letters of a line that are read; the rest of a longer one is dropped
CHUNK: Final = 1 << 20  # bytes that are read at once

# control sequences of ECMA-48: colours and movements, titles and links, single letters
_ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)?|[@-Z\\^_])"
)

# letters that draw nothing, those that would turn the direction of a text around, and halves of
# letters, which names of files may have and no terminal takes
_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff]"
)

# how a file begins that says its encoding; PowerShell's ``>`` writes the second
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Line(NamedTuple):
    """A line as a terminal shows it."""

    number: int
    text: str


def clean(text: str) -> str:
    r"""A text without terminal escapes and other letters that draw nothing.

    >>> clean("\x1b[31mloss\x1b[0m 3\x07")
    'loss 3'
    """
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text if text.isascii() and text.isprintable() else _CONTROLS.sub("", text)


# what hardly a text has, and a tenth of what is in any file that is none
_IN_TEXT: Final = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_SAMPLE: Final = 4096
_MOST_BROKEN: Final = 1 / 32


def decoded(data: bytes) -> str:
    """A text from its beginning, or what bytes are as one; what is broken is replaced."""
    size, encoding = _encoding_of(data)
    return data[size:].decode(encoding, errors="replace")


def _encoding_of(head: bytes) -> tuple[int, str]:
    """How many bytes say the encoding of what begins like this, and which it is."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return len(mark), encoding
    # Windows has programs that say nothing: of Latin letters every other byte is 0
    first, second = (head[at:_SAMPLE:2].count(0) for at in (0, 1))
    most = len(head[:_SAMPLE]) // 3
    if max(first, second) > most and min(first, second) <= most // 16:
        return 0, "utf-16-le" if second > first else "utf-16-be"
    return 0, "utf-8"


def is_text(head: bytes) -> bool:
    """Whether a file that begins like this is one, an empty one too.

    Zeros fill what a shell took away from a log to which its program goes on to write.
    """
    text = decoded(head.lstrip(b"\0")[:_SAMPLE])
    shown = text.replace("\0", "")
    is_broken = len(_IN_TEXT.findall(shown)) > _MOST_BROKEN * len(shown)
    return not is_broken and 2 * len(shown) >= len(text) and (not head or bool(head.strip(b"\0")))


def chunks_of(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes of a stream, some at a time."""
    while data := stream.read(CHUNK):
        yield data


def lines_of(chunks: Iterable[bytes]) -> Iterator[Line]:
    """Lines of chunks of bytes, each state of a progress bar one; broken text is replaced."""
    number = 1
    for raw, ends in _pieces(chunks):
        for part in raw.split("\r") if "\r" in raw else (raw,):
            if part or "\r" not in raw:
                yield Line(number, clean(part).rstrip())
        number += ends


def _pieces(chunks: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Texts up to each line feed, and whether there was one; the ends of long ones are dropped."""
    whole = iter(chunks)
    head = next(whole, b"")
    size, encoding = _encoding_of(head)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    rest = ""
    for data in chain([head[size:]], whole):
        *ended, last = decoder.decode(data).split("\n")
        for piece in ended:
            yield (rest + piece)[:LONGEST_LINE], True
            rest = ""
        rest = (rest + last)[:LONGEST_LINE]
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest[:LONGEST_LINE], False
