"""Tables of rows as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows below their headings, the first column on the left and the others on the right.

    >>> print(table_text(("layer", "size"), [("wte", "2.0 MiB"), ("head", "")]))
    layer       size
    wte      2.0 MiB
    head
    """
    lines = [columns, *rows]
    widths = [max(len(column[0]) + 2, *map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [[line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in aligned)
