"""The file of ratings: read beside the labels, and refused where it does not fit them."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.label_audit.raters import read_ratings


def test_each_scenario_has_its_label_and_what_was_answered(written, rows, scenarios):
    table = read_ratings(written(rows), scenarios)
    assert table["scenario"].to_list() == [scenario.id for scenario in scenarios]
    assert table["category"].to_list() == [scenario.category for scenario in scenarios]
    row = table.row(by_predicate=pl.col("scenario") == "data_pipeline_2", named=True)
    assert (row["rater_1"], row["contest_1"], row["second_1"]) == (
        "model_software",
        2,
        "data_pipeline",
    )
    assert (row["rater_2"], row["contest_2"], row["second_2"]) == ("data_pipeline", 0, None)


@pytest.mark.parametrize(
    ("scenario", "change", "problem"),
    [
        ("unknown_1", {"rater_1": "hardware"}, r"line 19: rater_1: .*found 'hardware'"),
        ("unknown_1", {"rater_2": ""}, r"line 19: rater_2: "),
        ("unknown_1", {"contest_2": 3}, r"line 19: contest_2: .*found '3'"),
        ("unknown_1", {"contest_1": "much"}, r"line 19: contest_1: .*found 'much'"),
        ("unknown_1", {"second_1": "abstain", "contest_1": 1}, r"line 19: second_1: "),
        ("unknown_1", {"contest_1": 1}, "exactly where the contest is not 0"),
        ("unknown_1", {"second_1": "optimization"}, "exactly where the contest is not 0"),
        ("unknown_1", {"contest_1": 1, "second_1": "unknown"}, "must differ from the answer"),
        ("unknown_1", {"scenario": "unknown_0"}, "line 19: scenario: 'unknown_0' is there twice"),
        ("unknown_1", {"scenario": "unknown_9"}, "'unknown_9' is no scenario .* unknown_9.json"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_its_line(
    written, rows, scenarios, scenario, change, problem
):
    path = written({**rows, scenario: rows[scenario] | change})
    with pytest.raises(BadInputError, match=problem) as refused:
        read_ratings(path, scenarios)
    assert refused.value.place.startswith(str(path))


def test_scenarios_without_a_row_are_refused_and_counted(written, rows, scenarios):
    few = {name: row for name, row in rows.items() if name not in ("unknown_1", "unknown_3")}
    with pytest.raises(BadInputError, match=r"no row of 'unknown_1' \(of 2 scenarios in all\)"):
        read_ratings(written(few), scenarios)


def test_a_column_that_is_missing_or_too_much_is_refused(written, rows, scenarios):
    without = {name: dict(list(row.items())[:-1]) for name, row in rows.items()}
    with pytest.raises(BadInputError, match="second_2: Field required"):
        read_ratings(written(without), scenarios)
    more = {name: row | {"rater_3": "unknown"} for name, row in rows.items()}
    with pytest.raises(BadInputError, match="rater_3: the key is unknown"):
        read_ratings(written(more), scenarios)


@pytest.mark.parametrize("content", [b"\x93\x00\xff\n", b"", None])
def test_a_file_that_is_missing_empty_or_no_text_is_refused(tmp_path, scenarios, content):
    path = tmp_path / "label_raters.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"label_raters.csv: .* Restore it with git"):
        read_ratings(path, scenarios)
