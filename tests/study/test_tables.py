"""The frame of estimates, tables that are the frame pivoted, and their markup."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.study.captions import Captions
from failbench.study.estimates import Estimates, of_groups, reported
from failbench.study.plain_table import Column, Divider, Table, markdown, typst
from failbench.study.tables import Of, Row, Text, n_of, rows, table

FOUND = Estimates.of(
    pl.DataFrame(
        {
            "key": ["forest", "rules"],
            "metric": ["accuracy", "accuracy"],
            "value": [0.27912345678, 0.5],
            "ci_low": [0.196, 0.4],
            "ci_high": [0.364, 0.6],
            "n": [76, 70],
        }
    )
).plus(*reported(74, keys={"key": "paper"}, accuracy=0.303))
NOTES = ["Percent.", {"when": "no", "text": "No."}]
SAID = Captions(
    Path("study.yaml"),
    {"methods": {"caption": "Accuracy of {n} methods.", "notes": NOTES}},
    {"n": 3, "no": ""},
)


def test_a_cell_has_an_interval_where_the_estimate_has_one():
    assert FOUND.cell(key="forest", metric="accuracy") == "27.9 [19.6, 36.4]"
    assert FOUND.cell(key="paper", metric="accuracy") == "30.3"
    assert FOUND.cell("points", key="rules", metric="accuracy") == "+50.0 [+40.0, +60.0]"
    assert FOUND.cell(key="nobody", metric="accuracy") == "–"
    assert FOUND.n(key="paper", metric="accuracy") == "74"


def test_keys_that_name_two_estimates_are_refused_and_a_null_is_a_key():
    with pytest.raises(ValueError, match="3 estimates"):
        FOUND.row(metric="accuracy")
    assert FOUND.where(ci_low=None).distinct("key") == ["paper"]


def test_a_table_is_the_frame_pivoted_with_dividers_and_notes_that_apply():
    shown = table(
        "methods",
        FOUND,
        [Text("Method"), Of("accuracy", "Accuracy"), n_of("accuracy")],
        [
            Row(("Paper",), {"key": "paper"}),
            Divider("Measured:"),
            *rows("key", {"forest": "Forest", "nobody": "Nobody"}),
            Row(("Rules",), {"key": "rules"}, form="two", show="interval, n"),
        ],
        SAID,
        "More.",
    )
    assert shown.rows == (
        ("Paper", "30.3", "74"),
        ("Measured:", "", ""),
        ("Forest", "27.9 [19.6, 36.4]", "76"),
        ("Nobody", "–", "–"),
        ("Rules", "0.50 [0.40, 0.60], n = 70", "0.50 [0.40, 0.60], n = 70"),
    )
    assert shown.caption == "Accuracy of 3 methods."
    assert shown.notes == ("Percent.", "More.")


def test_parts_are_joined_by_spaces_but_before_punctuation():
    parts = ["It is {a}", {"when": "a", "text": ", says {b}"}, {"unless": "a", "text": "no"}, "So."]
    said = Captions(Path("study.yaml"), {"t": {"caption": parts}}, {"a": 1, "b": "somebody"})
    assert said.caption("t") == "It is 1, says somebody So."


@pytest.mark.parametrize("content", ["", "a list\n", "a: [\n"])
def test_a_file_without_entries_is_refused(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    Path("paper/captions").mkdir(parents=True)
    Path("paper/captions/study.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(BadInputError, match="Restore it with git"):
        Captions.read("study")


def largest(part: pl.DataFrame, **keys: object) -> pl.DataFrame:
    return pl.DataFrame({**keys, "value": part["x"].max()})


def test_groups_are_estimated_in_the_order_of_their_keys():
    frame = pl.DataFrame({"b": ["v", "u", "v"], "a": [1, 1, 0], "x": [1.0, 2.0, 3.0]})
    expected = pl.DataFrame({"a": [0, 1, 1], "b": ["v", "u", "v"], "value": [3.0, 2.0, 1.0]})
    assert of_groups(frame, ("a", "b"), largest).equals(expected)


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
