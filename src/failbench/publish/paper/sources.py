"""What the sources of the paper name: metrics, figures and tables, looked for before typst is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from failbench.base.errors import BadInputError
from failbench.base.records import Record

FUNCTIONS = {
    **dict.fromkeys(
        ["metric", "value", "rate", "rates", "pct", "ci", "points", "number", "n-of", "p-value"],
        "data/metrics/{}.json",
    ),
    **dict.fromkeys(("drawing", "pictured"), "figures/{}.svg"),
    **dict.fromkeys(["generated", "tabled", "long", "squeezed", "narrowed"], "paper/tables/{}.typ"),
    "finding": "paper/tables/{}/finding.md",
}
"""The functions of the paper whose first argument names a file, and where that file is: those of
paper/lib and paper/appendix."""

_CALL = re.compile(rf'(?<![\w-])({"|".join(map(re.escape, FUNCTIONS))})\(\s*"([^"]+)"')
_PAIR = re.compile(r'(?<![\w-])drawings\(\s*"([^"]+)",\s*"([^"]+)"')
_READ = re.compile(
    r'(?<![\w-])(?:csv|json|yaml|read|image|bibliography|rows-of)\(\s*"/([^"]+\.\w+)"'
)
_COMMENT = re.compile(r"(?m)(?<![:\"])//.*$")


class Named(Record):
    """A file that a source of the paper names, and the line where it does."""

    source: Path
    line: int
    path: str


def named_files(sources: Sequence[Path]) -> list[Named]:
    """Every metrics file, figure, table and other file that the sources name."""
    return [named for source in sources for named in _named(source)]


def check_named(sources: Sequence[Path], root: Path, reads: Sequence[Path]) -> None:
    """Refuse sources that name a file that is not there, or that the stage does not read."""
    for named in named_files(sources):
        place = f"line {named.line}"
        if not any(Path(named.path).is_relative_to(path) for path in reads):
            raise BadInputError(
                named.source,
                place,
                f"names {named.path}, whose change would not compile the paper again.",
                "Add it to READS in experiments/paper.py, and to the stage.",
            )
        if not (root / named.path).is_file():
            raise BadInputError(
                named.source,
                place,
                f"names {named.path}, which does not exist.",
                "Run `dvc repro` for the stage that writes it, or correct the name.",
            )
        _text(root / named.path)


def _text(path: Path) -> str:
    """The text of a file, which must be what its name says: typst would not name it."""
    form = {".json": "JSON", ".svg": "SVG"}.get(path.suffix, "text")
    try:
        text = path.read_text(encoding="utf-8")
        if form == "JSON":
            json.loads(text)
        elif form == "SVG":
            # our own figures, which no outsider writes
            ElementTree.fromstring(text)  # noqa: S314
    except (OSError, ValueError, ElementTree.ParseError) as error:
        raise BadInputError(
            path,
            "(file)",
            f"is missing or is not a {form} file.",
            "Run `dvc repro` for the stage that writes it, or restore it with git.",
        ) from error
    return text


def _named(source: Path) -> Iterator[Named]:
    code = _COMMENT.sub("", _text(source))
    found = [
        (call, FUNCTIONS[call.group(1)].format(call.group(2))) for call in _CALL.finditer(code)
    ]
    for pair in _PAIR.finditer(code):
        found += [(pair, FUNCTIONS["drawing"].format(name)) for name in pair.groups()]
    found += [(read, read[1]) for read in _READ.finditer(code)]
    for match, path in found:
        line = code.count("\n", 0, match.start()) + 1
        yield Named(source=source, line=line, path=path)
