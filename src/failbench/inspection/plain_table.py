"""Plain table: rows of text under one another, for a terminal or a file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from failbench.readers.lines import clean


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as text, without colours; all columns but the first stand on the right.

    >>> print(plain_table(["layer", "share"], [["tokens", "72 %"], ["output", "28 %"]]))
    layer   share
    tokens   72 %
    output   28 %
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    stream = io.StringIO()
    Console(file=stream, width=10_000, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def in_bytes(count: float) -> str:
    """Bytes as people say them.

    >>> in_bytes(512), in_bytes(3 * 2**20), in_bytes(-2.5 * 2**30)
    ('512 B', '3.0 MiB', '-2.5 GiB')
    """
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
