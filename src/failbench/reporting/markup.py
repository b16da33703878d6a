"""Markup: one table, written as markdown, LaTeX or typst."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from failbench.reporting.table import Alignment, Column, Table

MARKDOWN_SPECIAL = re.compile(r"[\\`*_<~$|&#]|\](?=\()")
"""What CommonMark and GitHub's extensions (tables, formulas, strikethrough) read as markup."""

LATEX_SPECIAL = {
    **{character: rf"\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # in LaTeX's old default encoding these three print as other characters
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    # LaTeX stops at the sign itself
    "−": "$-$",
}
"""How LaTeX is told to print the characters that it reads as markup or may lack."""


def render(table: Table) -> dict[str, str]:
    """The text of a table by the suffix of its file: ``md``, ``tex`` and ``typ``."""
    return {"md": markdown(table), "tex": latex(table), "typ": typst(table)}


def write_table(table: Table, folder: Path) -> None:
    """Write a table in all three languages, as ``name.md``, ``name.tex`` and ``name.typ``."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, text in render(table).items():
        (folder / f"{table.name}.{suffix}").write_text(text, encoding="utf-8")


def markdown(table: Table) -> str:
    """Caption, table with padded cells, and notes, as GitHub's markdown."""
    lines = [
        [
            _escape_markdown(
                f"{column.heading} ({column.group})" if column.group else column.heading
            )
            for column in table.columns
        ],
        *([_escape_markdown(cell) for cell in row] for row in table.rows),
    ]
    # a rule needs three characters: a colon, a dash and a colon
    widths = [max(3, *map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = [
        [
            _padded(cell, width, column.align)
            for cell, width, column in zip(line, widths, table.columns, strict=True)
        ]
        for line in lines
    ]
    rule = [_rule(width, column.align) for width, column in zip(widths, table.columns, strict=True)]
    body = "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])
    texts = (_escape_markdown(text) for text in table.notes)
    return "\n\n".join([_escape_markdown(table.caption), body, *texts]) + "\n"


def latex(table: Table) -> str:
    """A LaTeX table for the package booktabs, never wider than a line.

    It floats, by adjustbox; one that may span pages is a longtable with array and does not.
    """
    if table.spans_pages:
        return _latex_pages(table)
    lines = [
        "% Needs the packages booktabs and adjustbox.",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex_caption(table)}}}",
        rf"\label{{tab:{table.name}}}",
        r"\begin{adjustbox}{max width=\linewidth}",
        rf"\begin{{tabular}}{{{''.join(column.align[0] for column in table.columns)}}}",
        r"\toprule",
        *_latex_groups(table.columns),
        _latex_row([column.heading for column in table.columns]),
        r"\midrule",
        *(_latex_row(row) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def typst(table: Table) -> str:
    """A typst figure with a table; texts are strings, in which typst sees no markup."""
    aligned = ", ".join(column.align for column in table.columns)
    widths = ", ".join(
        "auto" if column.width is None else f"{100 * column.width:g}%" for column in table.columns
    )
    figure = [
        "#figure(",
        "  table(",
        f"    columns: {f'({widths},)' if table.spans_pages else len(table.columns)},",
        f"    align: ({aligned},),",
        "    stroke: none,",
        "    table.hline(),",
        "    table.header(",
        *_typst_groups(table.columns),
        f"      {_typst_row([column.heading for column in table.columns])}",
        "    ),",
        "    table.hline(stroke: 0.5pt),",
        *(f"    {_typst_row(row)}" for row in table.rows),
        "    table.hline(),",
        "  ),",
        f"  caption: {_typst_string(' '.join((table.caption, *table.notes)))},",
        f") <tab-{table.name}>",
    ]
    # the rule holds inside the brackets alone
    breakable = ["#[", "#show figure: set block(breakable: true)", *figure, "]"]
    return "\n".join(breakable if table.spans_pages else figure) + "\n"


def _escape_markdown(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(lambda match: f"\\{match.group()}", text)


def _padded(cell: str, width: int, align: Alignment) -> str:
    return cell.ljust(width) if align == "left" else cell.rjust(width)


def _rule(width: int, align: Alignment) -> str:
    return "-" * width if align == "left" else "-" * (width - 1) + ":"


def _escape_latex(text: str) -> str:
    escaped = "".join(LATEX_SPECIAL.get(character, character) for character in text)
    # LaTeX would join neighbours to a longer dash
    apart = re.sub("[-–](?=[-–])", r"\g<0>{}", escaped)
    return apart.replace("–", "--")


def _latex_caption(table: Table) -> str:
    return " ".join(_escape_latex(text) for text in (table.caption, *table.notes))


def _latex_pages(table: Table) -> str:
    """A table whose heading is repeated on every page."""
    columns = "".join(
        column.align[0]
        if column.width is None
        else rf">{{\raggedright\arraybackslash}}p{{\dimexpr{column.width:g}\linewidth-2\tabcolsep}}"
        for column in table.columns
    )
    lines = [
        "% Needs the packages array, booktabs and longtable.",
        r"{\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{{_latex_caption(table)}}}\label{{tab:{table.name}}}\\",
        r"\toprule",
        *_latex_groups(table.columns),
        _latex_row([column.heading for column in table.columns]),
        r"\midrule",
        r"\endhead",
        *(_latex_row(row) for row in table.rows),
        r"\bottomrule",
        r"\end{longtable}}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(_escape_latex(cell) for cell in cells)
    # the end of the row above would take a bracket or a star for its own option
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def _latex_groups(columns: Sequence[Column]) -> list[str]:
    """The row of what columns share, with a rule beneath each, if there is such a row."""
    cells, rules = [], []
    for group, first, last in _groups(columns):
        span = last - first + 1
        if group:
            cells.append(rf"\multicolumn{{{span}}}{{c}}{{{_escape_latex(group)}}}")
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
        else:
            cells += [""] * span
    return [" & ".join(cells) + r" \\", " ".join(rules)] if rules else []


def _typst_string(text: str) -> str:
    r"""A string literal, in which only ``\\`` and ``"`` are special; an interval is not broken."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"")
    unbroken = re.sub(r"\[[^\]]*\]", lambda match: match.group().replace(" ", r"\u{a0}"), escaped)
    return f'"{unbroken}"'


def _typst_row(cells: Sequence[str]) -> str:
    return ", ".join(_typst_string(cell) for cell in cells) + ","


def _typst_groups(columns: Sequence[Column]) -> list[str]:
    """The row of what columns share, with a rule beneath each, if there is such a row."""
    cells, rules = [], []
    for group, first, last in _groups(columns):
        span = last - first + 1
        if group:
            cells.append(f"table.cell(colspan: {span}, align: center, {_typst_string(group)}),")
            rules.append(f"table.hline(start: {first - 1}, end: {last}, stroke: 0.5pt),")
        else:
            cells += ['"",'] * span
    return [f"      {' '.join(cells)}", f"      {' '.join(rules)}"] if rules else []


def _groups(columns: Sequence[Column]) -> list[tuple[str, int, int]]:
    """Each group with the numbers, from one, of its first and last column."""
    numbered = groupby(enumerate(columns, start=1), key=lambda pair: pair[1].group)
    members = [(group, [number for number, _ in pairs]) for group, pairs in numbered]
    return [(group, numbers[0], numbers[-1]) for group, numbers in members]
