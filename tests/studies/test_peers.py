import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score

from failbench.base.errors import BadInputError
from failbench.base.predictions import SPLIT_SCHEMA
from failbench.base.telemetry import RUN_SCHEMA as ALL_RUNS
from failbench.base.vocabulary import CATEGORIES
from failbench.neighbours.peers.verdicts import DOCUMENTED, with_best_thresholds
from failbench.statistics.intervals import lead_interval
from peers import rate_table
from shared.peers import RUN_SCHEMA, SAID_SCHEMA
from shared.peers_answers import runs_of
from study_settings import INTERVALS_OF_FEW, REFERENCE

SCENARIOS = {f"{category}_{number}": category for category in CATEGORIES for number in range(3)}
FOLDS = pl.DataFrame(
    [(0, number % 3, name) for number, name in enumerate(SCENARIOS)], SPLIT_SCHEMA, orient="row"
)


def made_up_runs():
    rows = []
    for scenario, category in SCENARIOS.items():
        for seed in (0, 1):
            name = f"{scenario}-s{seed}"
            of_run = {"scenario": scenario, "category": category, "failure_step": 200, "seed": seed}
            failing = {"kind": "failure", "onset_step": 100, "ends_itself": category == "unknown"}
            rows.append(of_run | failing | {"run_id": name})
            rows.append(of_run | {"run_id": f"{name}-twin", "kind": "twin", "ends_itself": False})
    success = {"kind": "success", "seed": 0, "ends_itself": False}
    rows += [success | {"run_id": f"success-{number}"} for number in range(4)]
    return pl.DataFrame(rows, schema=RUN_SCHEMA)


RUNS = made_up_runs()
PAIRS = RUNS.filter(pl.col("kind") != "success")


def said(detected, prediction="abstain", step=lambda run: 150, choice=DOCUMENTED):
    """What a method says of every run: whether it detects and when are functions of the run."""
    rows = [
        {
            "method": "umlaut",
            "choice": choice,
            "repeat": 0,
            "run_id": run["run_id"],
            "detected": detected(run),
            "step": step(run) if detected(run) else None,
            "prediction": prediction,
            "conditions": 4.0,
        }
        for run in RUNS.to_dicts()
    ]
    return pl.DataFrame(rows, schema=SAID_SCHEMA)


def is_failing(run):
    return run["kind"] == "failure"


def always(run):
    return True


def never(run):
    return False


def rates(table):
    return {row["metric"]: row for row in rate_table(table, RUNS, INTERVALS_OF_FEW).to_dicts()}


@pytest.mark.parametrize(
    ("detected", "expected"),
    [
        (is_failing, {"detected": 1, "gain": 1, "f1": 1, "alarm_twin": 0, "alarm_success": 0}),
        (always, {"detected": 1, "gain": 0, "f1": 2 / 3, "alarm_twin": 1, "alarm_success": 1}),
    ],
)
def test_who_alarms_what_fails_gains_all_who_alarms_everything_nothing(detected, expected):
    found = rates(said(detected))
    assert {name: found[name]["value"] for name in expected} == pytest.approx(expected)
    assert (found["alarm_twin"]["n"], found["alarm_success"]["n"]) == (30, 4)


def test_f1_is_that_of_scikit_learn_and_the_median_lead_that_of_numpy():
    table = said(lambda run: run["kind"] != "success" and sum(run["run_id"].encode()) % 3 == 0)
    of_pairs = table.join(PAIRS, on="run_id")
    expected = f1_score(of_pairs["kind"] == "failure", of_pairs["detected"])
    assert 0 < expected < 1
    assert rates(table)["f1"]["value"] == pytest.approx(expected)
    rng = np.random.default_rng(3)
    steps = {run: int(rng.integers(0, 200)) for run in RUNS["run_id"]}
    timed = said(is_failing, step=lambda run: steps[run["run_id"]])
    failing = timed.join(RUNS.filter(kind="failure"), on="run_id")
    interval = lead_interval(failing, INTERVALS_OF_FEW)
    leads = (failing["failure_step"] - failing["step"]).to_numpy()
    assert interval.value == np.quantile(leads, 0.5, method="inverted_cdf")
    assert interval.ci_low <= interval.value <= interval.ci_high
    assert interval.n == len(SCENARIOS)


FAILING, EVERYTHING = said(is_failing, choice="× 2"), said(always)


@pytest.mark.parametrize(
    ("tables", "by", "chosen"),
    [
        ([EVERYTHING, FAILING, said(never, choice="× 5")], "best_detection", "× 2"),
        ([said(is_failing), said(always, "optimization", choice="× 3")], "best_category", "× 3"),
        ([FAILING, said(is_failing)], "best_detection", DOCUMENTED),
    ],
    ids=["detects best", "names best", "of equals what is documented"],
)
def test_the_best_choice_is_taken(tables, by, chosen):
    best = with_best_thresholds(pl.concat(tables), RUNS, FOLDS, by)
    assert set(best["choice"]) == {chosen}
    assert best.join(PAIRS, on="run_id", how="semi").height == 60
    assert best.height == 60 + 3 * 4


def test_a_choice_is_never_made_on_the_scenarios_that_it_is_judged_on():
    first = set(FOLDS.filter(fold=0)["scenario"])
    of_first = said(lambda run: is_failing(run) and run["scenario"] in first, choice="× 2")
    both = pl.concat([said(never), of_first])
    best = with_best_thresholds(both, RUNS, FOLDS, "best_detection")
    chosen = dict(best.group_by("fold").agg(pl.col("choice").first()).iter_rows())
    assert chosen == {0: DOCUMENTED, 1: "× 2", 2: "× 2"}
    lacking = FOLDS.filter(pl.col("scenario") != "unknown_2")
    with pytest.raises(BadInputError, match="'unknown_2' is tested in no fold"):
        with_best_thresholds(EVERYTHING, RUNS, lacking, "best_detection")


# Who is asked.


def test_a_run_whose_scenario_is_not_defined_and_no_run_at_all_are_refused():
    setting = {"architecture": "transformer", "optimizer": "adamw", "scale": "small"}
    run = {"run_id": "a", "kind": "failure", "scenario": "lost", "ending": "completed", "seed": 0}
    table = pl.DataFrame([setting | run], schema=ALL_RUNS)
    for runs, problem in (
        (table, "'lost' was recorded and is not defined"),
        (table.clear(), "no failing run of transformer is there"),
    ):
        with pytest.raises(BadInputError, match=problem):
            runs_of(runs, (), REFERENCE)
