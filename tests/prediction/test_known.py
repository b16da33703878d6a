"""What the monitor knew of runs stands beside their features, for the methods that read it."""

import polars as pl
import pytest

from failbench.base import known_columns
from failbench.base.errors import BadInputError
from failbench.base.studies import LEFT_OUT, POOLED
from failbench.base.vocabulary import ABSTAIN
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.monitor_methods import NoSettings
from failbench.monitor.end import End
from failbench.monitor.records.verdicts import (
    COURSE_SCHEMA,
    FLAGS,
    OWN,
    known_course,
    known_table,
    verdict_table,
)
from failbench.prediction.known import Known
from failbench.prediction.nested_cv import across_architectures, nested_cv
from failbench.prediction.splits import make_splits
from made_up_monitored import history, judged, made_up_known, monitored
from study_settings import ACROSS, FOREST

CRASH = End("exception", "forward", 59, "RuntimeError", "shapes")

HISTORIES = {
    # what healthy runs bound, then what holds in every run; then it is ended
    "both": history(CRASH, blocked_data={10: 9.0}, labels_outside={30: 1.0}),
    "ended": history(CRASH),
    "nothing": history(),
    "waits": history(blocked_data={10: 9.0}),
}


@pytest.fixture(scope="module")
def tables():
    return judged(monitored([({"run_id": name}, each) for name, each in HISTORIES.items()]))


@pytest.fixture(scope="module")
def known(tables):
    return Known(known_course(*tables))


@pytest.fixture(scope="module")
def features():
    return pl.DataFrame(
        {"run_id": ["nothing", "both", "ended", "waits"], "architecture": "gru", "x": [1, 2, 3, 4]}
    )


def cut(known, features, step, *, at_failure=False):
    cuts = features.select(
        "run_id", run="run_id", last_step=pl.lit(step, pl.Int32), at_failure=pl.lit(at_failure)
    )
    table = known.beside_cuts(features, cuts)
    return {row["run_id"]: row for row in table.to_dicts()}


def test_a_failure_is_known_as_the_study_of_the_monitor_knows_it(tables, known, features):
    breaks, ends, used = tables
    expected = known_table(breaks, ends, used)
    beside = known.beside(features)
    assert beside.select("run_id", "x").rows() == features.select("run_id", "x").rows()
    assert beside.select(expected.columns).sort("run_id").equals(expected)
    assert known.course.schema == COURSE_SCHEMA
    assert (known_columns.OWN, known_columns.flags_in(beside.columns)) == (OWN, FLAGS)


def test_a_log_that_is_cut_shows_what_had_broken_by_then_and_no_end(tables, known, features):
    for ahead in (0, 20, 29, 30, 47, 48, 59):
        answers = dict(verdict_table(*tables, (ahead,)).select("run_id", "answer").rows())
        then = cut(known, features, 59 - ahead, at_failure=ahead == 0)
        assert {name: row["answer"] for name, row in then.items()} == answers
    before, then = cut(known, features, 59), cut(known, features, 59, at_failure=True)
    assert before["ended"]["answer"] == ABSTAIN
    assert (before["ended"]["end_kind"], before["ended"]["ended_running"]) == ("running", 1.0)
    assert then["ended"]["ended_exception"] == 1.0
    assert then["nothing"]["ended_running"] == 1.0  # nothing ended it


@pytest.mark.parametrize(
    ("failed", "answer"), [(29, ABSTAIN), (30, "data_pipeline"), (None, "data_pipeline")]
)
def test_what_a_log_says_after_the_failure_is_not_known_of_it(failed, answer):
    table = monitored([({"run_id": "goes on"}, history(labels_outside={30: 1.0}))])
    breaks, ends, used = judged(table)
    ends = ends.with_columns(failure_step=pl.lit(failed, pl.Int32))
    (row,) = known_table(breaks, ends, used).to_dicts()
    assert row["answer"] == answer
    assert row["broke_labels_are_classes"] == (answer != ABSTAIN)
    assert row["ended_completed"] == (failed is None)


def test_a_run_that_no_monitor_watched_is_named_with_the_remedy(known, features):
    more = pl.concat([features, features[:1].with_columns(run_id=pl.lit("alone"))])
    cuts = more.select("run_id", run="run_id", last_step=1, at_failure=pl.lit(value=False))
    named = "'alone' and 0 other runs.*failbench record --signals full"
    for join in (lambda: known.beside(more), lambda: known.beside_cuts(more, cuts)):
        with pytest.raises(BadInputError, match=named):
            join()


def accuracy(predictions):
    return (predictions["prediction"] == predictions["category"]).mean()


def test_methods_see_the_same_in_every_feature_set_and_others_as_before(
    failures, successes, one_repeat
):
    joined = made_up_known(failures, ("transformer-adamw",)).beside(failures)
    columns = ("run_id", "prediction", "confidence")
    for method, settings in (("invariants", NoSettings()), ("forest_on_invariants", FOREST)):
        predictions = nested_cv(joined, successes, one_repeat, method, settings, FEATURE_SETS, 5)
        assert accuracy(predictions) == 1
        first, *others = predictions.partition_by("feature_set")
        assert all(part.select(columns).equals(first.select(columns)) for part in others)
    with_known, without = (
        nested_cv(table, successes, one_repeat, "random_forest", FOREST, FEATURE_SETS, 5)
        for table in (joined, failures)
    )
    assert with_known.equals(without)
    with pytest.raises(BadInputError, match="nothing that the monitor knows"):
        nested_cv(failures, successes, one_repeat, "forest_on_invariants", FOREST, FEATURE_SETS, 5)


def test_bounds_of_an_architecture_count_where_it_is_not_left_out(runs_of_three_architectures):
    features = runs_of_three_architectures
    splits = make_splits(features.select("scenario", "category").drop_nulls().unique(), 2, 1, 0)
    failing = features.filter(pl.col("kind") == "failure")
    known = made_up_known(failing, ("bert-adamw", "gru-adamw", "lstm-adamw"))
    asked = (features, splits, "invariants", NoSettings(), ACROSS)
    predictions = across_architectures(*asked, known=known)
    of = predictions.partition_by("study", as_dict=True)
    assert accuracy(of[POOLED,]) == 1
    wrong = of[LEFT_OUT,].filter(pl.col("prediction") != pl.col("category"))
    assert set(wrong["category"]) == {"unknown"}
    assert accuracy(of[LEFT_OUT,]) == pytest.approx(0.8)
