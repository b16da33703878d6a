import re
from pathlib import Path

import polars as pl
import pytest

from failbench.study.captions import Captions
from failbench.study.estimates import Estimates, reported
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


def test_keys_that_name_two_estimates_are_refused_and_a_null_is_a_key():
    assert FOUND.cell("points", key="rules", metric="accuracy") == "+50.0 [+40.0, +60.0]"
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


@pytest.mark.parametrize("text", NASTY)
def test_what_is_markup_is_escaped_and_reads_back_as_the_text(text):
    one_cell = Table("one", (Column("H", align="left"),), ((text,),), "Caption.")
    lines = typst(one_cell).splitlines()  # the one row follows the rule beneath the header
    literal = lines[lines.index("    table.hline(stroke: 0.5pt),") + 1].strip().removesuffix(",")
    assert re.fullmatch(r'"(?:[^"\\]|\\["\\]|\\u\{a0\})*"', literal)
    assert re.sub(r"\\(.)", r"\1", literal[1:-1].replace(r"\u{a0}", " ")) == text
    cell = markdown(one_cell).splitlines()[4].removeprefix("| ").removesuffix(" |").rstrip()
    assert not re.search(r"(?<!\\)[`*_<~$|&#]", cell.replace(r"\\", ""))
    assert not re.search(r"(?<!\\)\]\(", cell)
    assert re.sub(r"\\(.)", r"\1", cell) == text


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ((("1", "2"), ("3",)), "Row 2 of the table odd has 1 cells"),
        ((("a\nb", "c"),), "line break"),  # which markdown cannot hold
    ],
)
def test_rows_that_do_not_fit_the_columns_or_the_markup_are_refused(rows, problem):
    with pytest.raises(ValueError, match=problem):
        Table("odd", (Column("a"), Column("b")), rows, "Caption.")
