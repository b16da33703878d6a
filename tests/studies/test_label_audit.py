from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.study.estimates import Estimates
from label_audit import ALL, PAIRS, contested, estimates, read_ratings
from made_up_scenarios import made_up_scenarios

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, seed=0, wilson_from=0.9, wilson_below=10
)
Row = dict[str, object]


@pytest.fixture(scope="session")
def scenarios() -> tuple[Scenario, ...]:
    """Four of each category."""
    return made_up_scenarios(4)


@pytest.fixture(scope="session")
def rows(scenarios) -> dict[str, Row]:
    """By scenario a row of the file; both raters miss one unknown, rater 1 one more."""
    no_contest: Row = {"contest_1": 0, "second_1": "", "contest_2": 0, "second_2": ""}
    ratings: dict[str, Row] = {
        each.id: {"scenario": each.id, "rater_1": each.category, "rater_2": each.category}
        | no_contest
        for each in scenarios
    }
    ratings["unknown_0"] |= {"rater_1": "memory_hardware", "rater_2": "memory_hardware"}
    ratings["unknown_0"] |= {"contest_2": 1, "second_2": "unknown"}
    ratings["data_pipeline_2"] |= {"rater_1": "model_software"}
    ratings["data_pipeline_2"] |= {"contest_1": 2, "second_1": "data_pipeline"}
    ratings["optimization_3"] |= {"contest_2": 2, "second_2": "model_software"}
    ratings["memory_hardware_1"] |= {"contest_1": 1, "second_1": "unknown"}
    return ratings


@pytest.fixture
def written(tmp_path) -> Callable[[Mapping[str, Row]], Path]:
    """Writes rows as the file of ratings."""

    def write(ratings: Mapping[str, Row]) -> Path:
        path = tmp_path / "label_raters.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, next(iter(ratings.values())))
            writer.writeheader()
            writer.writerows(ratings.values())
        return path

    return write


@pytest.fixture
def ratings(written, rows, scenarios) -> pl.DataFrame:
    return read_ratings(written(rows), scenarios)


@pytest.fixture
def found(ratings) -> Estimates:
    return Estimates(estimates(ratings, SETTINGS))


def test_each_scenario_has_its_label_and_what_was_answered(ratings, scenarios):
    assert ratings["scenario"].to_list() == [scenario.id for scenario in scenarios]
    assert ratings["category"].to_list() == [scenario.category for scenario in scenarios]
    row = ratings.row(by_predicate=pl.col("scenario") == "data_pipeline_2", named=True)
    answers = [[row[f"{what}_{n}"] for what in ("rater", "contest", "second")] for n in (1, 2)]
    assert answers == [["model_software", 2, "data_pipeline"], ["data_pipeline", 0, None]]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rater_1": "hardware"}, r"line 19: rater_1: .*found 'hardware'"),
        ({"rater_2": ""}, r"line 19: rater_2: "),
        ({"contest_2": 3}, r"line 19: contest_2: .*found '3'"),
        ({"contest_1": "much"}, r"line 19: contest_1: .*found 'much'"),
        ({"second_1": "abstain", "contest_1": 1}, r"line 19: second_1: "),
        ({"contest_1": 1}, "exactly where the contest is not 0"),
        ({"second_1": "optimization"}, "exactly where the contest is not 0"),
        ({"contest_1": 1, "second_1": "unknown"}, "must differ from the answer"),
        ({"scenario": "unknown_0"}, "line 19: scenario: 'unknown_0' is there twice"),
        ({"scenario": "unknown_9"}, "'unknown_9' is no scenario .* unknown_9.json"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_its_line(written, rows, scenarios, change, problem):
    path = written({**rows, "unknown_1": rows["unknown_1"] | change})
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


@pytest.mark.parametrize("subject", PAIRS)
def test_estimates_are_those_of_a_count_and_of_scikit_learn(ratings, found, subject):
    one, other, _ = PAIRS[subject]
    left, right = ratings[one], ratings[other]
    overall = found.where(subject=subject, scope=ALL)
    assert overall.value(metric="agreement") == (left == right).mean()
    assert overall.value(metric="kappa") == pytest.approx(cohen_kappa_score(left, right))
    assert overall.n(metric="kappa") == overall.n(metric="agreement") == "20"
    for category in CATEGORIES:
        of_label = ratings.filter(category=category)
        by_label = found.where(subject=subject, scope=category)
        assert by_label.value(metric="agreement") == (of_label[one] == of_label[other]).mean()
        assert by_label.n(metric="agreement") == "4"
        assert by_label.value(metric="kappa") == pytest.approx(
            cohen_kappa_score(left == category, right == category)
        )


def test_shares_that_raters_contest_are_counted(found):
    def shares(metric: str) -> list[float]:
        return found.where(scope=ALL, metric=metric).frame["value"].to_list()

    assert shares("contested") == [0.1, 0.1, 0.2]
    assert shares("evenly_divided") == [0.05, 0.05, 0.1]
    assert shares("label_among_two") == [0.95, 1.0]  # rater 1 has no second for unknown_0


def test_contested_are_those_that_differ_or_divide_evenly(ratings):
    differing = {"unknown_0", "data_pipeline_2", "optimization_3"}
    assert set(contested(ratings)["scenario"]) == differing


def test_where_two_never_differ_no_interval_is_made_up(found):
    agreed = found.row(subject="raters", scope="optimization", metric="kappa")
    assert (agreed["interval"], agreed["ci_low"], agreed["ci_high"]) == ("point", 1.0, 1.0)
    differing = found.row(subject="rater_1", scope="data_pipeline", metric="kappa")
    assert differing["ci_low"] < differing["value"] < 1.0
