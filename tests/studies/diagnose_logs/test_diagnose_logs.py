"""The study of logs: what is held out, what is counted, and what is shown."""

from __future__ import annotations

from typing import get_args

import numpy as np
import polars as pl
import pytest

from failbench.causes.catalogue import causes
from failbench.diagnose.answer import Level, level_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.signs import Sign
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.readers.text import read_text
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.diagnose_logs.evidence import look_up
from failbench.studies.diagnose_logs.examples import LogExample, at_failure, monitored_examples
from failbench.studies.diagnose_logs.measure import cross_validated, of_model
from failbench.studies.diagnose_logs.peers import peer_table
from failbench.studies.diagnose_logs.report import report
from failbench.studies.diagnose_logs.results import (
    CATEGORY,
    alarm_table,
    rates_of,
    risk_coverage,
    surest,
)
from failbench.studies.diagnose_logs.schemas import (
    ANSWER_SCHEMA,
    COMPLETE,
    EVIDENCE_SCHEMA,
    MONITOR,
    MONITOR_LOGIC,
)
from failbench.studies.diagnose_logs.settings import DiagnosedLogs
from failbench.studies.diagnose_logs.shown import OURS, PEER_LABELS
from failbench.vocabulary import ABSTAIN, CATEGORIES
from pipeline import REPOSITORY

SETTINGS = DiagnosedLogs(
    run_seeds=(0, 1),
    formats_per_run=1,
    monitor_version="1",
    repeats=1,
    inner_folds=2,
    penalties=(1.0,),
    margins=(0.0, 1.0),
    most_alarmed=0.1,
    coverage=0.5,
    bins=5,
    floor_draws=20,
    evidence_logs=2,
    seed=0,
)
INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, seed=0, wilson_from=0.95, wilson_below=5
)
SETTING = "transformer-adamw"
FORMATS = ("csv", COMPLETE, MONITOR, MONITOR_LOGIC)


def scenario_cause(category, number):
    of_category = [name for name, cause in causes().items() if cause.category == category]
    return of_category[number % len(of_category)]


def example(kind, scenario, cause, format_name, seed, signs):
    return LogExample(
        run_id=f"{kind} {scenario} {seed}",
        kind=kind,
        setting=SETTING,
        seed=seed,
        scenario=scenario,
        category=None if cause is None else causes()[cause].category,
        cause=cause,
        format=format_name,
        present=("loss",),
        events=cause is not None,
        signs=signs,
    )


def examples():
    """Four scenarios a category, each of which says its cause; twins and successes say nothing."""
    rng = np.random.default_rng(0)
    made = []
    for format_name in FORMATS:
        for category in CATEGORIES:
            for number in range(4):
                cause = scenario_cause(category, number)
                scenario = f"{category} {number}"
                for seed in (0, 1):
                    said = Sign("message", cause, "direct", (cause,), category)
                    quiet = Sign("check", "loss_jumps", amount=float(rng.random()))
                    made.append(example("failure", scenario, cause, format_name, seed, (said,)))
                    made.append(example("twin", scenario, None, format_name, seed, (quiet,)))
        for number in range(10):
            quiet = Sign("check", "loss_jumps", amount=float(rng.random()))
            made.append(example("success", f"run {number}", None, format_name, number, (quiet,)))
    return made


def splits():
    return pl.DataFrame(
        [(0, number % 2, f"{category} {number}") for category in CATEGORIES for number in range(4)],
        schema={"repeat": pl.Int32, "fold": pl.Int32, "scenario": pl.String},
        orient="row",
    )


@pytest.fixture(scope="module")
def answers():
    made = examples()
    return pl.concat(
        cross_validated(made, name, splits(), SETTINGS, 1)
        for name in ("log", "monitor", "monitor_bounds")
    )


def test_every_log_is_answered_once_a_repeat(answers):
    assert answers.schema == ANSWER_SCHEMA
    assert answers.height == len(examples())
    assert not answers.select("run_id", "format").is_duplicated().any()


def test_each_model_has_its_own_logs():
    made = examples()
    assert {each.format for each in of_model(made, "log")} == {"csv", COMPLETE}
    assert {each.format for each in of_model(made, "monitor")} == {MONITOR_LOGIC}
    assert {each.format for each in of_model(made, "monitor_bounds")} == {MONITOR}


def test_a_twin_is_tested_in_the_fold_of_its_scenario(answers):
    folds = splits().select("scenario", expected="fold")
    joined = answers.join(folds, on="scenario")
    assert (joined["fold"] == joined["expected"]).all()
    assert set(joined["kind"]) == {"failure", "twin"}


def test_messages_of_their_kind_are_trusted_of_causes_that_were_not_learnt(answers):
    failing = answers.filter(kind="failure")
    assert (failing["prediction"] == failing["category"]).mean() > 0.9


COMMITTED = REPOSITORY / "data/measurements/diagnose_logs/answers.parquet"


def test_the_cause_that_is_named_lies_in_the_category_that_is_named():
    committed = pl.read_parquet(COMMITTED)
    lies_in = {name: cause.category for name, cause in causes().items()}
    assert (committed["predicted_cause"].replace_strict(lies_in) == committed["prediction"]).all()


def test_a_higher_confidence_is_right_more_often_for_each_kind_of_log():
    failing = pl.read_parquet(COMMITTED).filter(kind="failure")
    kinds = failing.group_by("model", pl.col("format") == COMPLETE)
    for _, of_kind in kinds:
        said = of_kind.select(
            level=pl.col("confidence").map_elements(level_of, pl.String),
            right=pl.col("prediction") == pl.col("category"),
        )
        shares = [said.filter(level=level)["right"].mean() for level in get_args(Level)]
        known = [share for share in shares if share is not None]
        assert known == sorted(known, reverse=True)


def test_an_answer_among_the_surest_is_never_less_sure_than_one_that_is_withheld(answers):
    failing = answers.filter(kind="failure", model="log")
    failing = failing.with_columns(confidence=pl.Series(np.linspace(0.2, 1, failing.height)))
    kept = surest(failing, 0.25)
    given = kept.filter(pl.col("prediction") != ABSTAIN)
    withheld = kept.filter(pl.col("prediction") == ABSTAIN)
    assert given["confidence"].min() > withheld["confidence"].max()
    assert given.height == pytest.approx(0.25 * failing.height, abs=1)


def test_a_wrong_and_sure_half_halves_the_accuracy(answers):
    failing = answers.filter(kind="failure", model="log")
    is_wrong = pl.int_range(pl.len()) % 2 == 0
    spoilt = failing.with_columns(
        prediction=pl.when(is_wrong).then(pl.lit(ABSTAIN)).otherwise("category"),
        confidence=pl.lit(0.9),
    )
    rates = rates_of(spoilt, SETTINGS, INTERVALS, CATEGORY)
    assert rates["accuracy"].value == pytest.approx(0.5)


def test_a_run_with_several_logs_is_one_run_of_the_alarms(answers):
    healthy = answers.filter(pl.col("kind") != "failure", model="log")
    (row,) = (
        alarm_table(healthy.with_columns(alarm=pl.col("format") == "csv"), 0.95)
        .filter(kind="success")
        .to_dicts()
    )
    assert (row["value"], row["n"], row["logs"]) == (0.5, 10, 20)


def test_the_risk_ends_at_the_share_of_wrong_answers(answers):
    failing = answers.filter(kind="failure", model="log")
    last = risk_coverage(failing, 4).filter(coverage=1.0)["risk"].item()
    wrong = 1 - (failing["prediction"] == failing["category"]).mean()
    assert last == pytest.approx(wrong)


def test_other_tools_are_shown_in_their_best_format(answers):
    runs = answers.filter(model="log", format="csv").select(
        "run_id", "kind", "scenario", "category", "seed"
    )
    truth = runs["category"].fill_null(ABSTAIN)
    good = runs.select(
        method=pl.lit("tool"),
        format=pl.lit("good"),
        run_id="run_id",
        prediction=truth,
        detected=pl.lit(value=True),
    )
    bad = good.with_columns(format=pl.lit("bad"), prediction=pl.lit(ABSTAIN))
    table = peer_table(pl.concat([bad, good]), runs, INTERVALS)
    assert set(table["format"]) == {"good"}
    value = dict(table.select("metric", "value").iter_rows())
    assert (value["accuracy"], value["alarm_success"]) == (1.0, 1.0)


def test_the_report_has_a_row_for_every_kind_of_log_and_tool(answers):
    evidence = pl.DataFrame(
        [("a", 0, "csv", "check", "line", True), ("a", 1, "csv", "check", "course", True)],
        schema=EVIDENCE_SCHEMA,
        orient="row",
    )
    runs = answers.filter(model="log", format="csv")
    peers = runs.select(
        method=pl.lit("runmedic"),
        format=pl.lit("csv"),
        run_id="run_id",
        prediction=pl.lit(ABSTAIN),
        detected=pl.lit(value=False),
    )
    made = report(answers, evidence, peers, SETTING, SETTINGS, INTERVALS, "an example")
    names = {table.name: table for table in made.tables}
    assert len(names["headline"].rows) == 6
    assert [row[0] for row in names["diagnose_logs_peers"].rows] == [
        PEER_LABELS[OURS],
        PEER_LABELS["runmedic"],
    ]
    assert made.metrics["evidence_found"] == {"value": 1.0, "n": 1}
    assert "% of its evidence" in made.sentences["finding"]


def test_a_monitors_log_is_cut_at_the_failure_and_its_end_is_then_not_known():
    rows = tuple(Row(step, {"loss": 1.0}) for step in range(10))
    lived = History("standard", 1, {}, {}, rows, End("completed", "step", 9))
    cut = at_failure(lived, 4)
    assert [row.step for row in cut.rows] == [0, 1, 2, 3, 4]
    assert cut.end.kind == "running"
    died = History("standard", 1, {}, {}, rows, End("killed", "step", 9))
    assert at_failure(died, 9).end.kind == "killed"
    assert at_failure(lived, None) == lived


def test_a_monitors_log_is_judged_with_bounds_and_without():
    rows = tuple(Row(step, {"loss": 1.0}) for step in range(10))
    history = History("standard", 1, {}, {}, rows, End("completed", "step", 9))
    run = {
        "run_id": "a", "kind": "success", "scenario": None, "seed": 0,
        "architecture": "transformer", "optimizer": "adamw", "scale": "small",
    }  # fmt: skip
    made = monitored_examples([(run, history)], {}, {})
    assert [each.format for each in made] == [MONITOR, MONITOR_LOGIC]


LINES = b"step=1 loss=2.5000 mem=1.5GiB\n\x1b[31mRuntimeError: the batch is broken\x1b[0m\n"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"value": 2.5, "signal": "loss"}, True),
        ({"value": 2.6, "signal": "loss"}, False),
        ({"value": 1.5 * 2**30, "signal": "memory"}, True),
        ({"line": 2, "quote": "RuntimeError: the batch is broken"}, True),
        ({"line": 2, "quote": "RuntimeError: the moon is full"}, False),
    ],
)
def test_evidence_is_looked_up_in_the_bytes_of_the_log(change, found):
    log = read_text("train.log", [LINES])
    item = {"line": 1, "step": 1, "source": "train.log"} | change
    finding = Finding("x", "check", "direct", "It is so.", **item)
    assert look_up(finding, log, {"train.log": LINES}) == ("line", found)
