"""Any notebook of format 4: which cells come before one of them, and what a kernel holds then."""

from __future__ import annotations

import ast
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from failbench.base.errors import BadInputError
from failbench.base.records import read_json
from failbench.notebooks.relevant import relevant_names
from failbench.notebooks.summaries import Summary, parse_summary

if TYPE_CHECKING:
    from failbench.notebooks.kernel import Kernel

REMEDY: Final = "Name a Jupyter notebook of format 4, as `jupyter nbconvert --to notebook` writes."
MEND: Final = "Mend it, give its data with --files, or use --code-only or --summary."
MAGIC: Final = ("%", "!", "?")  # what lines begin with that IPython understands and Python does not
# their code is executed as Python all the same
TRANSPARENT: Final = ("%%time", "%%timeit", "%%capture")
SECONDS: Final = 120.0  # that a cell before the target may take
BYTES: Final = 8 * 2**30  # of address space that the kernel has


@dataclass(frozen=True)
class Asked:
    """What is asked of a notebook."""

    executed: tuple[str, ...]
    target: str
    index: int


def read_asked(path: Path, index: int | None) -> Asked:
    """Read which cells come before a target: of lower counts, with a count, or above it."""
    raw = read_json(path, REMEDY)
    if (
        not isinstance(raw, dict)
        or raw.get("nbformat") != 4
        or not isinstance(raw.get("cells"), list)
    ):
        raise BadInputError(path, "nbformat", "is not a notebook of format 4.", REMEDY)
    cells = [_cell(path, place, cell) for place, cell in enumerate(raw["cells"])]
    code = {place: source for place, source, _ in cells if source is not None}
    counts = {place: count for place, source, count in cells if source is not None and count}
    if not code:
        raise BadInputError(path, "cells", "has no cell of code.", REMEDY)
    if index is None:
        last = max(counts, key=lambda place: counts[place], default=-1)
        waiting = [place for place in code if place > last and place not in counts]
        index = waiting[0] if counts and waiting else list(code)[-1]
    if index not in code:
        known = ", ".join(map(str, code))
        raise BadInputError(
            path, f"cells.{index}", "is no cell of code.", f"Name one of these: {known}."
        )
    before = _before(index, list(code), counts)
    return Asked(
        tuple(without_magics(code[at]) for at in before), without_magics(code[index]), index
    )


def without_magics(source: str) -> str:
    r"""A cell as Python reads it: lines of magics become ``pass``, so that all keep their numbers.

    >>> without_magics("%matplotlib inline\nx = 1")
    'pass\nx = 1'
    """
    lines = source.split("\n")
    if lines[0].startswith("%%") and not lines[0].startswith(TRANSPARENT):
        return "\n".join("pass" if place == 0 else "" for place in range(len(lines)))
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return "\n".join(map(_python, lines))
    return source


def _python(line: str) -> str:
    text = line.lstrip()
    is_magic = text.startswith(MAGIC) or (text.endswith("?") and text[:-1].isidentifier())
    return line[: len(line) - len(text)] + "pass" if is_magic else line


def _cell(path: Path, place: int, cell: Any) -> tuple[int, str | None, int | None]:
    field = f"cells.{place}"
    if not isinstance(cell, dict) or not isinstance(cell.get("source"), str | list):
        raise BadInputError(path, f"{field}.source", "is missing or no text.", REMEDY)
    source, count = cell["source"], cell.get("execution_count")
    text = source if isinstance(source, str) else "".join(map(str, source))
    is_count = count is None or (isinstance(count, int) and count >= 0)
    if not is_count:
        raise BadInputError(path, f"{field}.execution_count", "is no count.", REMEDY)
    return place, text if cell.get("cell_type") == "code" else None, count


def _before(index: int, code: list[int], counts: dict[int, int]) -> list[int]:
    if not counts:
        return [place for place in code if place < index]
    limit = counts.get(index)
    known = [place for place in counts if place != index and (not limit or counts[place] < limit)]
    return sorted(known, key=lambda place: counts[place])


def summary_before(notebook: Path, asked: Asked, files: Path | None) -> Summary:
    """Execute the cells before a target, without a network, and summarise what the kernel holds."""
    from failbench.notebooks.kernel import forge  # needs the extra notebooks

    try:
        relevant = relevant_names(asked.executed, asked.target)
    except SyntaxError as error:
        problem = f"a cell is no Python ({error})."
        raise BadInputError(notebook, "cells", problem, "Mend it, or use --code-only.") from error
    with (
        tempfile.TemporaryDirectory(prefix="failbench-") as cache,
        forge(SECONDS, BYTES, Path(cache)) as kernels,
        kernels.kernel() as kernel,
    ):
        if files is not None:
            _copy(files, kernel.folder)
        for place, source in enumerate(asked.executed):
            _execute(kernel, source, notebook, f"executed cell {place}")
        return parse_summary(kernel.summary(relevant.names, relevant.attributes))


def _execute(kernel: Kernel, source: str, notebook: Path, field: str) -> None:
    from failbench.notebooks.kernel import OutOfTimeError

    try:
        failure = kernel.execute(source)
    except OutOfTimeError as error:
        raise BadInputError(notebook, field, f"{error}.", MEND) from error
    if failure is not None:
        problem = f"raises {failure.name} ({failure.message}), before the target."
        raise BadInputError(notebook, field, problem, MEND)


def _copy(files: Path, folder: Path) -> None:
    try:
        shutil.copytree(files, folder, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        problem = f"cannot be copied ({' '.join(str(error).split())})."
        raise BadInputError(files, "--files", problem, "Name a folder that can be read.") from error
