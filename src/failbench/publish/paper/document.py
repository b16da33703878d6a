"""The paper: its typst sources compiled into the same bytes on any machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

from failbench.base.errors import BadInputError
from failbench.publish.paper.sources import check_named

REMEDY = "Correct the source, or run `dvc repro` for the stage whose output it names."


UNSUPPORTED = "<unsupported>"
"""The label of what the function ``supported`` of paper/lib/metrics.typ no longer bears out."""


@dataclass(frozen=True)
class Compiled:
    """The paper."""

    document: bytes
    unsupported: tuple[str, ...]


def compiled(root: Path, main: Path, facts: Mapping[str, str], reads: Sequence[Path]) -> Compiled:
    """Compile the paper.

    Fonts are those in typst and in matplotlib, whose DejaVu Sans the figures are lettered in; fonts
    of the machine are not used, and nothing in the document says when it was made.
    """
    try:
        import typst
    except ImportError as error:
        raise BadInputError(
            "environment", "typst", "is not installed.", "Install failbench[paper]."
        ) from error
    check_named(sources(main), root, reads)
    fonts = Path(mpl.get_data_path()) / "fonts" / "ttf"
    try:
        compiler = typst.Compiler(
            str(main),
            root=str(root),
            font_paths=[str(fonts)],
            ignore_system_fonts=True,
            sys_inputs=dict(facts),
        )
        document = compiler.compile(format="pdf", timestamp=0)
        assert isinstance(document, bytes)  # images alone are several
        unsupported = json.loads(compiler.query(UNSUPPORTED, field="value"))
    except typst.TypstError as error:
        problem = " ".join(str(error).split()).removeprefix("panicked with: ").rstrip(".")
        raise BadInputError(main, "(source)", f"does not compile: {problem}.", REMEDY) from error
    return Compiled(document, tuple(unsupported))


def sources(main: Path) -> list[Path]:
    """The sources of the paper: the main one, then those in the folders beside it, by name."""
    tables = main.parent / "tables"
    found = sorted(path for path in main.parent.rglob("*.typ") if tables not in path.parents)
    return [main, *(path for path in found if path != main)]
