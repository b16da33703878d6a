from __future__ import annotations

import re

import pytest

from failbench.study.plain_table import Column, Table, markdown, render, typst, write_table

SMALL = Table(
    "small",
    (
        Column("Method", align="left"),
        Column("Accuracy", "reported"),
        Column("Accuracy", "19 & words"),
        Column("F1", "19 & words"),
        Column("n"),
    ),
    (("Rules", "57.1", "59.2 [51.3, 67.1]", "–", "76"),),
    "100 % made up.",
    ("A note_1.",),
)

NASTY = (
    "a & b",
    "50 % of $5 #1",
    "under_score *star* `tick` ~~gone~~",
    r"back\slash {braces} ^",
    "[label](link) <tag> @ref | pipe",
    'a "quote" -- dashes --- and – beside -–',
    "// no comment /* none */",
    "= heading",
    "± 1",
    "−1 to 2",
    "≤ 3 and ≥ 4",
)


def one_cell(text):
    return Table("one", (Column("H", align="left"),), ((text,),), "Caption.")


def only_row(text, rule):
    """The line of the one row, which follows the rule beneath the header."""
    lines = text.splitlines()
    return lines[lines.index(rule) + 1]


def typst_row(text):
    return only_row(typst(one_cell(text)), "    table.hline(stroke: 0.5pt),").strip()


def test_the_markdown_of_a_small_table():
    assert markdown(SMALL) == (
        "100 % made up.\n"
        "\n"
        "| Method | Accuracy (reported) | Accuracy (19 \\& words) | F1 (19 \\& words) |   n |\n"
        "| ------ | ------------------: | ---------------------: | ---------------: | --: |\n"
        "| Rules  |                57.1 |      59.2 [51.3, 67.1] |                – |  76 |\n"
        "\n"
        "A note\\_1.\n"
    )


def test_the_typst_of_a_small_table():
    assert typst(SMALL) == (
        "#figure(\n"
        "  table(\n"
        "    columns: 5,\n"
        "    align: (left, right, right, right, right,),\n"
        "    stroke: none,\n"
        "    table.hline(),\n"
        "    table.header(\n"
        '      "", table.cell(colspan: 1, align: center, "reported"),'
        ' table.cell(colspan: 2, align: center, "19 & words"), "",\n'
        "      table.hline(start: 1, end: 2, stroke: 0.5pt),"
        " table.hline(start: 2, end: 4, stroke: 0.5pt),\n"
        '      "Method", "Accuracy", "Accuracy", "F1", "n",\n'
        "    ),\n"
        "    table.hline(stroke: 0.5pt),\n"
        '    "Rules", "57.1", "59.2 [51.3,\\u{a0}67.1]", "–", "76",\n'
        "    table.hline(),\n"
        "  ),\n"
        '  caption: "100 % made up. A note_1.",\n'
        ") <tab-small>\n"
    )


@pytest.mark.parametrize("text", NASTY)
def test_a_typst_string_reads_back_as_the_text(text):
    literal = typst_row(text).removesuffix(",")
    assert re.fullmatch(r'"(?:[^"\\]|\\["\\]|\\u\{a0\})*"', literal)
    read = literal[1:-1].replace(r"\u{a0}", " ")
    assert re.sub(r"\\(.)", r"\1", read) == text


def test_a_markdown_cell_never_ends_early():
    row = markdown(one_cell(r"a | b \| c")).splitlines()[4]
    assert row == r"| a \| b \\\| c |"


@pytest.mark.parametrize("text", NASTY)
def test_every_character_that_markdown_reads_as_markup_is_escaped(text):
    cell = markdown(one_cell(text)).splitlines()[4].removeprefix("| ").removesuffix(" |").rstrip()
    assert not re.search(r"(?<!\\)[`*_<~$|&#]", cell.replace(r"\\", ""))
    assert not re.search(r"(?<!\\)\]\(", cell)
    assert re.sub(r"\\(.)", r"\1", cell) == text


def test_a_row_that_does_not_fit_the_columns_is_refused():
    with pytest.raises(ValueError, match="Row 2 of the table odd has 1 cells"):
        Table("odd", (Column("a"), Column("b")), (("1", "2"), ("3",)), "Caption.")


def test_a_cell_of_two_lines_is_refused_because_markdown_cannot_hold_it():
    with pytest.raises(ValueError, match="line break"):
        one_cell("a\nb")


def test_the_two_files_of_a_table_bear_its_name(tmp_path):
    write_table(SMALL, tmp_path / "new")
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "new").iterdir()}
    assert written == {f"small.{suffix}": text for suffix, text in render(SMALL).items()}
    assert set(written) == {"small.md", "small.typ"}


SENTENCES = Table(
    "sentences",
    (Column("Claim", align="left", width=0.6), Column("n")),
    (("It is so_long.", "76"),),
    "Caption.",
    ("A note.",),
)


def test_a_table_of_sentences_may_span_pages_in_typst():
    lines = typst(SENTENCES).splitlines()
    assert lines[:2] == ["#[", "#show figure: set block(breakable: true)"]
    assert lines[-1] == "]"
    assert "    columns: (60%, auto,)," in lines
    assert "breakable" not in typst(SMALL)
