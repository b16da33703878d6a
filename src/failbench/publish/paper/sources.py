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
    "metric": "data/metrics/{}.json",
    "value": "data/metrics/{}.json",
    "rate": "data/metrics/{}.json",
    "rates": "data/metrics/{}.json",
    "pct": "data/metrics/{}.json",
    "ci": "data/metrics/{}.json",
    "points": "data/metrics/{}.json",
    "number": "data/metrics/{}.json",
    "n-of": "data/metrics/{}.json",
    "p-value": "data/metrics/{}.json",
    "drawing": "figures/{}.svg",
    "generated": "paper/tables/{}.typ",
    "pictured": "figures/{}.svg",
    "tabled": "paper/tables/{}.typ",
    "long": "paper/tables/{}.typ",
    "squeezed": "paper/tables/{}.typ",
    "narrowed": "paper/tables/{}.typ",
    "finding": "paper/tables/{}/finding.md",
}
"""The functions of the paper whose first argument names a file, and where that file is: those of
paper/lib, then those of paper/appendix."""

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
        if not any(Path(named.path).is_relative_to(path) for path in reads):
            raise BadInputError(
                named.source,
                f"line {named.line}",
                f"names {named.path}, whose change would not compile the paper again.",
                "Add it to READS in experiments/paper.py, and to the stage.",
            )
        if not (root / named.path).is_file():
            raise BadInputError(
                named.source,
                f"line {named.line}",
                f"names {named.path}, which does not exist.",
                "Run `dvc repro` for the stage that writes it, or correct the name.",
            )
        _check_readable(root / named.path)


def _check_readable(path: Path) -> None:
    """Refuse a file that is not what its name says, which typst would not name."""
    content = _text(path)
    try:
        if path.suffix == ".json":
            json.loads(content)
        elif path.suffix == ".svg":
            # our own figures, which no outsider writes
            ElementTree.fromstring(content)  # noqa: S314
    except (ValueError, ElementTree.ParseError) as error:
        raise _unreadable(path) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> BadInputError:
    form = {".json": "JSON", ".svg": "SVG"}.get(path.suffix, "text")
    return BadInputError(
        path,
        "(file)",
        f"is missing or is not a {form} file.",
        "Run `dvc repro` for the stage that writes it, or restore it with git.",
    )


def _named(source: Path) -> Iterator[Named]:
    code = _COMMENT.sub("", _text(source))
    for call in _CALL.finditer(code):
        yield _found(source, code, call, FUNCTIONS[call.group(1)].format(call.group(2)))
    for pair in _PAIR.finditer(code):
        for name in pair.groups():
            yield _found(source, code, pair, FUNCTIONS["drawing"].format(name))
    for read in _READ.finditer(code):
        yield _found(source, code, read, read.group(1))


def _found(source: Path, code: str, match: re.Match[str], path: str) -> Named:
    return Named(source=source, line=code.count("\n", 0, match.start()) + 1, path=path)
