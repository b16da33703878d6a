"""All typst tables as one document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from failbench.errors import BadInputError
from failbench.files import write_atomically

PAGE = """\
#set page(flipped: true, margin: 1.5cm)
#set text(size: 6pt)
#show figure: set block(breakable: true)
"""
"""Landscape pages and small type for tables of twelve columns; long tables break over pages."""


def write_document(folder: Path, output: Path) -> int:
    """Compile every table of a folder, one to a page, into one PDF.

    Returns
    -------
    int
        Number of tables.

    Raises
    ------
    BadInputError
        If there is no table, typst is not installed, a table does not compile, or the document
        cannot be written.
    """
    tables = sorted(folder.glob("*.typ"))
    if not tables:
        raise BadInputError(folder, "*.typ", "there is no table.", "Run `dvc repro`.")
    write_atomically(output, _compiled(folder, tables), "Free space, or correct its permissions.")
    return len(tables)


def document(names: Sequence[str]) -> str:
    """The source of a document that holds files of tables, by their names.

    Examples
    --------
    >>> print(document(["a.typ", "b.typ"]).removeprefix(PAGE))
    #include "a.typ"
    #pagebreak()
    #include "b.typ"
    """
    return PAGE + "\n#pagebreak()\n".join(f'#include "{name}"' for name in names)


def _compiled(folder: Path, tables: Sequence[Path]) -> bytes:
    try:
        import typst
    except ImportError as error:
        raise BadInputError(
            "environment", "typst", "is not installed.", "Install failbench[dev]."
        ) from error
    source = document([table.name for table in tables]).encode("utf-8")
    try:
        # The type stubs ask for bytes as root, which must be a path.
        compiled: bytes = typst.compile(source, root=str(folder))  # type: ignore[type-var]
    except typst.TypstError as error:
        problem = " ".join(str(error).split()).rstrip(".")
        raise BadInputError(
            folder, "*.typ", f"a table does not compile: {problem}.", "Run `dvc repro`."
        ) from error
    return compiled
