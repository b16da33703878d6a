"""The frame of estimates, and tables that are the frame pivoted."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.study import (
    Captions,
    Estimates,
    Of,
    Row,
    Text,
    n_of,
    of_groups,
    reported,
    rows,
    table,
)
from failbench.study.plain_table import Divider

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


def test_values_are_published_with_six_decimals():
    assert FOUND.value(key="forest", metric="accuracy") == 0.279123


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


def test_what_does_not_hold_is_refused():
    part = {"text": "Most are right.", "holds": "share > 0.5"}
    said = Captions(Path("study.yaml"), {"t": {"caption": part}}, {"share": 0.4})
    with pytest.raises(BadInputError, match=r"share > 0\.5 is not so"):
        said.caption("t")


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
