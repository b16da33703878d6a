import copy
import re
from pathlib import Path

import polars as pl
import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.base.records import kept_by_hand
from failbench.study.captions import Captions
from failbench.study.estimates import Estimates, reported
from failbench.study.paper_numbers import Reported
from failbench.study.tables import Column, Table, markdown, typst


def test_keys_that_name_two_estimates_are_refused_and_a_null_is_a_key():
    measured = [("forest", "accuracy", 0.279, 0.196), ("rules", "accuracy", 0.5, 0.4)]
    table = pl.DataFrame(measured, ["key", "metric", "value", "ci_low"], orient="row")
    of_paper = reported(74, keys={"key": "paper"}, accuracy=0.303)
    found = Estimates.of(table.with_columns(ci_high=0.6, n=70)).plus(*of_paper)
    assert found.cell("points", key="rules", metric="accuracy") == "+50.0 [+40.0, +60.0]"
    with pytest.raises(ValueError, match="3 estimates"):
        found.row(metric="accuracy")
    assert found.where(ci_low=None).distinct("key") == ["paper"]


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


NUMBERS = {
    "intervals": {
        "19": {
            "ebm": {"accuracy": {"value": 0.279, "ci_low": 0.196, "ci_high": 0.364, "n": 76}},
            "rules": {"accuracy": {"value": 0.6, "n": 70}},
        },
        "thresholds": {"0.60": {"coverage": {"value": 0.5}}, "0": {"60": {"coverage": 1}}},
        "difference": {"value": -0.309, "ci_low": -0.407, "ci_high": 0.018},
        "gain": {"difference": 0.204, "ci_low": 0.137, "ci_high": 0.27, "pairs": 76},
        "all over code": {"p": 0.004},
        "peer:setting": {"value": 3.0},
    }
}


def captions(text: object = "", numbers: dict[str, object] = NUMBERS) -> Captions:
    return Captions(Path("captions.yaml"), {"table": {"caption": text}}, numbers)


@pytest.mark.parametrize(
    ("placeholder", "problem"),
    [
        ("{intervals.19.ebm.accuracies}", "'intervals.19.ebm.accuracies' names no number"),
        ("{intervals.nothing}", "'intervals.nothing' names no number"),
        ("{intervals.difference|pints}", "percent, share, whole, points"),
    ],
)
def test_a_path_that_is_not_there_and_an_unknown_form_are_refused(placeholder, problem):
    with pytest.raises(BadInputError, match=problem):
        captions(placeholder).caption("table")


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("intervals.difference < 0", True),
        ("intervals.difference.ci_high > 0", True),
        ("intervals.19.ebm.accuracy.ci_high <= intervals.19.rules.accuracy", True),
        ("intervals.all over code.p < 0.05", True),
        ("intervals.difference > 0", False),
        ("intervals.19.ebm.accuracy > intervals.19.rules.accuracy", False),
    ],
)
def test_a_condition_holds_or_says_why_not(condition, holds):
    unmet = list(captions().unmet([condition], "table.holds"))
    said = captions({"text": "So it is.", "holds": condition})
    if holds:
        assert (unmet, said.caption("table")) == ([], "So it is.")
    else:
        assert unmet[0].startswith(f"{condition} is not so, with ")
        with pytest.raises(BadInputError, match="is not so, with "):
            said.caption("table")


@pytest.fixture(scope="module")
def raw_reported(repository):
    return yaml.safe_load((repository / "data/reported/paper.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("tables.methods.rows.ebm.acuracy", 0.5),
        ("tables.methods.rows.ebm.accuracy", 95.7),
        ("tables.confusion.rows.unknown", [1, 2, 3]),
        ("figures.tradeoff.rows.ebm.interpretability", [85, 101]),
        ("claims.gap.value", 38.6),
    ],
)
def test_a_wrong_entry_is_refused_with_its_path(raw_reported, path, value):
    wrong = copy.deepcopy(raw_reported)
    entry = wrong
    *keys, last = path.split(".")
    for key in keys:
        entry = entry[key]
    entry[last] = value
    with pytest.raises(BadInputError) as caught:
        kept_by_hand(Reported, wrong, "data/reported/paper.yaml")
    assert caught.value.field.startswith(".".join(keys[: 2 if keys[0] == "claims" else 3]))
    assert caught.value.place == "data/reported/paper.yaml"
