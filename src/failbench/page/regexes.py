r"""Regular expressions of Python as a browser reads them.

The rules' patterns use few constructs. Those few are translated so that both languages give the
same answer on any text, with the flag ``u``; whatever else occurs is refused. Two things differ
between the languages: ``.`` leaves out more line ends in a browser, and ``\b`` knows only the
letters of ASCII there.
"""

from __future__ import annotations

import re
from typing import Final

from failbench.errors import BadInputError

_WORD: Final = r"[\p{L}\p{N}_]"
_BOUNDARY: Final = rf"(?:(?<!{_WORD})(?={_WORD})|(?<={_WORD})(?!{_WORD}))"

_PARTS: Final = re.compile(
    r"""(?P<escaped>\\[.^$*+?()\[\]{}|\\/])
      | (?P<boundary>\\b)
      | (?P<any>\.)
      | (?P<group>\(\?:|\)|\|)
      | (?P<repeat>[*+?]\??)
      | (?P<literal>[^\\.^$*+?()\[\]{}|])""",
    re.VERBOSE,
)


def browser_pattern(pattern: str) -> str:
    r"""Translate a pattern, to be read with the flag ``u``.

    >>> browser_pattern(r"size of tensor .* must match|key\(s\)")
    'size of tensor [^\\n]* must match|key\\(s\\)'

    Raises
    ------
    BadInputError
        If it uses a construct that is not known to mean the same in both languages.
    """
    translated = []
    position = 0
    while position < len(pattern):
        part = _PARTS.match(pattern, position)
        if part is None:
            raise BadInputError(
                "rules",
                "pattern",
                f"{pattern!r} has at {position} what may mean another thing in a browser.",
                "Write it with literal text, '.', '\\b', '(?:...)', '|', '*', '+' and '?'.",
            )
        translated.append(
            _BOUNDARY
            if part["boundary"]
            else "[^\\n]"
            if part["any"]
            else part[0].replace("/", "\\/")
            if part["literal"]
            else part[0]
        )
        position = part.end()
    return "".join(translated)
