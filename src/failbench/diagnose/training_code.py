"""Training code: what the program itself says, read and never run."""

from __future__ import annotations

import ast
import warnings
from functools import cache
from pathlib import Path
from typing import Final

from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows
from failbench.causes.catalogue import CauseNames
from failbench.causes.support import Strength
from failbench.diagnose.code_patterns import CODE_PATTERNS
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.folders import files_below
from failbench.diagnose.readers.lines import clean

LARGEST: Final = 2**20  # bytes of a file; the largest modules of transformers have a quarter of it
NOT_READ: Final = "code_not_read"  # id of the finding that says that a file could not be read
_REMEDY: Final = "Name a file of Python, or a folder with some, that may be read."


def code_findings(path: Path) -> tuple[Finding, ...]:
    """Slips by file and line of code that is not run; a file that cannot be read is a finding."""
    try:
        if path.is_file():
            return _findings(path, clean(path.name))
        if path.is_dir():
            return tuple(
                finding
                for file in files_below(path)
                if file.suffix == ".py"
                for finding in _findings(file, clean(file.relative_to(path).as_posix()))
            )
    except OSError as error:
        raise BadInputError(
            error.filename or path, "(code)", f"cannot be read ({error.strerror}).", _REMEDY
        ) from error
    raise BadInputError(path, "(code)", "is neither a file nor a folder.", _REMEDY)


def _findings(path: Path, name: str) -> tuple[Finding, ...]:
    with path.open("rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        return (_not_read(name, None, "it has more than 1 MiB"),)
    try:
        with warnings.catch_warnings(action="ignore"):  # of odd escapes in strings
            tree = ast.parse(data)
        found = [
            _finding(find.__name__, name, data, node)
            for find in CODE_PATTERNS
            for node in find(tree)
        ]
    except SyntaxError as error:
        return (_not_read(name, error.lineno, f"it is no Python of this version ({error.msg})"),)
    except (ValueError, RecursionError, MemoryError):
        return (_not_read(name, None, "it is no Python, or nests too deep"),)
    return tuple(sorted(found, key=lambda finding: finding.line or 0))


def _not_read(name: str, line: int | None, why: str) -> Finding:
    said = clean(f"{name} was not read: {why}.")
    return Finding(NOT_READ, "code", "circumstantial", said, name, line, None)


def _finding(id_: str, name: str, data: bytes, node: ast.AST) -> Finding:
    slip = slips()[id_]
    line = int(getattr(node, "lineno", 1))
    text = data.splitlines()[line - 1 : line]
    quote = clean(text[0].decode("utf-8", errors="replace")).strip()[:300] if text else ""
    said = slip.statement.format(what=_what(node)) + "."
    return Finding(
        slip.id, "code", slip.strength, said, name, line, None, quote=quote, causes=slip.causes
    )


def _what(node: ast.AST) -> str:
    """What a finding is about, as code of at most 80 letters."""
    if isinstance(node, ast.For):
        node = node.iter
    elif isinstance(node, ast.Call) and node.args == [] and isinstance(node.func, ast.Attribute):
        node = node.func if node.func.attr == "backward" else node.func.value
    return clean(ast.unparse(node))[:80]


class Slip(Record):
    """A slip of training code: what it is called, and how strongly it speaks."""

    id: str
    strength: Strength
    causes: CauseNames
    statement: str
    source: str


@cache
def slips() -> dict[str, Slip]:
    """The catalogue by names."""
    return {row.id: row for row in packaged_rows("failbench.diagnose", "code_patterns.csv", Slip)}
