from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import Bound
from failbench.monitor.records import tables
from failbench.neighbours.outside_list.bugs import STATES, Bug, run_ids
from monitor_bounds import GROUPS, MarginSettings, metrics, rates, setting_bounds
from outside_list import judge
from shared.monitor_estimates import blind_rates
from study_settings import INTERVALS

FAULTY, TWIN = "library-1_faulty_0", "library-1_healthy_0"
LEFT = {30: {"gradients_left": 4.0}}


def bug_of(name="library-1", **changes):
    """A bug of the software, with one rank and its fault from step 20 on."""
    fields = {"id": name, "published": "Library issue 1", "title": "It is wrong"}
    fields |= {"root_cause": "Something is not as it was meant.", "component": "model_software"}
    fields |= {"reason": "5", "ranks": 1, "onset": 20, "traincheck": "not detected"}
    return Bug.model_validate(fields | {"deviations": "none", "left_out": ""} | changes)


def recorded_bugs(bugs, measured, level="full"):
    """What was measured of bugs; what is not given of a run is healthy."""
    rows = []
    for name in (name for bug in bugs for state in STATES for name in run_ids(bug, state)):
        steps = {step: {"gradients_left": 0.0} for step in range(0, 60, 10)}
        for step, values in measured.get(name, {}).items():
            steps.setdefault(step, {}).update(values)
        ordered = tuple(Row(step, steps[step]) for step in sorted(steps))
        history = History(level, 10, {}, {}, ordered, End("completed", "callback", 59))
        row = tables.monitored_row(history, {"run_id": name, "kind": "twin"})
        rows.append((row, tables.signal_rows(history)))
    return tables.monitored_of(rows)


def judged_of(measured, bug=None, level="standard", fitted=None):
    bug = bug or bug_of()
    (judged,) = judge(recorded_bugs([bug], measured), [bug], fitted or {}, level).to_dicts()
    return judged


@pytest.mark.parametrize(
    ("measured", "component", "expected"),
    [
        ({FAULTY: {23: {"gradients_left": 4.0}}}, "model_software", (1, 1, 1, 0, 3)),
        ({}, "model_software", (0, 0, 0, 0, None)),
        # what breaks before the fault begins does not count
        ({FAULTY: {10: {"gradients_left": 4.0}}}, "model_software", (0, 0, 0, 0, None)),
        ({FAULTY: {20: {"gradients_left": 4.0}}}, "unknown", (1, 1, 0, 0, 0)),
        # what breaks in the twin too tells nothing apart; what holds there does, even if later
        ({FAULTY: LEFT, TWIN: LEFT}, "model_software", (1, 0, 1, 1, 10)),
        ({FAULTY: LEFT | {40: {"maximize": 1.0}}, TWIN: LEFT}, "model_software", (1, 1, 1, 1, 10)),
    ],
)
def test_detected_told_apart_named_alarmed_and_timed(measured, component, expected):
    judged = judged_of(measured, bug_of(component=component))
    counted = ("detected", "told_apart", "named", "twin_alarm", "steps")
    assert tuple(judged[name] for name in counted) == expected


def test_the_first_rank_speaks_with_what_its_level_measures_and_what_is_bounded():
    measured = {
        "library-1_faulty_0": {40: {"ranks_disagree": 3.0}},
        "library-1_faulty_1": {30: {"ranks_disagree": 3.0}},
    }
    assert judged_of(measured, bug_of(ranks=2))["steps"] == 10
    measured = {FAULTY: {30: {"probe_determinism": 0.5}}}
    detected = [judged_of(measured, level=level)["detected"] for level in ("full", "standard")]
    assert detected == [True, False]
    measured = {FAULTY: {step: {"padding_share": 0.9} for step in (20, 30, 40)}}
    fitted = {"padding_share_steady": Bound(float("-inf"), 0.5)}
    assert not judged_of(measured)["detected"]
    judged = judged_of(measured, bug_of(component="data_pipeline"), fitted=fitted)
    assert (judged["named"], judged["steps"]) == (True, 10)


def test_a_run_without_the_level_or_any_measurement_is_refused_and_not_taken_for_healthy():
    bug = bug_of()
    with pytest.raises(BadInputError, match="no signals of level full"):
        judge(recorded_bugs([bug], {}, "standard"), [bug], {}, "full")
    empty = replace(recorded_bugs([bug], {}), signals=tables.SIGNAL_SCHEMA.to_frame())
    with pytest.raises(BadInputError, match="data/outside/signals"):
        judge(empty, [bug], {}, "standard")


# Of the monitor: a version on the half that it was not made on.

OTHER = {category: CATEGORIES[place - 1] for place, category in enumerate(CATEGORIES)}


def answers(half, setting="x", right=lambda place: False):
    """Two scenarios a category, each with a run, in one repeat."""
    rows = [
        {
            "run_id": f"{category}-{place}-{half}-{setting}",
            "category": category,
            "scenario": f"{category}-{place}-{half}",
            "seed": 0,
            "repeat": 0,
            "half": half,
            "setting": setting,
            "prediction": category if right(place) else OTHER[category],
        }
        for category in CATEGORIES
        for place in range(2)
    ]
    return pl.DataFrame(rows)


def judged(version, *parts):
    table = pl.concat(parts)
    return SimpleNamespace(rules=SimpleNamespace(version=version), at_failure=lambda: table)


def test_the_version_and_the_forest_are_held_against_one_another_on_the_unseen_half():
    right = [answers(half, right=lambda place: True) for half in ("development", "test")]
    of_both = pl.concat(right).drop("half", "setting")
    category = pl.col("category").replace_strict(OTHER)
    second = of_both.with_columns(prediction=category, repeat=pl.lit(1, pl.Int64))
    unseen = answers("test", right=lambda place: place == 0)
    versions = [
        judged("1", answers("test")),
        judged("2", answers("development"), answers("test", "y"), unseen),
    ]
    blind = blind_rates(versions, pl.concat([of_both, second]), "x", INTERVALS)
    assert {name: rate.n for name, rate in blind.items()} == dict.fromkeys(blind, 10)
    # the forest is right in one of two repeats: paired, scenario by scenario, +0.5 and -0.5
    values = [blind[name].value for name in ("version_2", "forest", "difference")]
    assert values == [0.5, 0.5, 0]
    assert blind["difference"].ci_low < 0 < blind["difference"].ci_high


# Bounds of a setting, and which healthy runs each margin alarms.

CHOICE = MarginSettings(margins=(0.0, 8.0), most_alarmed=0.01, confidence=0.95)


def healthy(n: int) -> tables.Monitored:
    """Healthy runs whose reading and gradients vary, from one to the next too."""
    generator = np.random.default_rng(1)
    of_run = {"kind": "success", "architecture": "gru", "optimizer": "sgd", "scale": "small"}
    rows = []
    for run in range(n):
        values = generator.lognormal(generator.normal(0, 0.3), 0.2, (60, 2)).tolist()
        steps = tuple(
            Row(step, {"blocked_data": blocked, "gradient_norm": norm})
            for step, (blocked, norm) in enumerate(values)
        )
        lived = History("standard", 1, {}, {}, steps, End("completed", "callback", 59))
        rows.append(
            (
                tables.monitored_row(lived, {**of_run, "run_id": f"s{run}"}),
                tables.signal_rows(lived),
            )
        )
    return tables.monitored_of(rows)


def test_the_smallest_margin_that_alarms_seldom_is_taken():
    fitted = {"gru-sgd": setting_bounds("gru-sgd", healthy(12), CHOICE, ())}
    assert [fitted["gru-sgd"].margins[name] for name in GROUPS] == [8.0, 8.0]
    bounds = fitted["gru-sgd"].bounds
    assert set(bounds) >= {"reads_not_blocked", "gradients_not_growing"}
    of_setting = metrics(fitted, rates(fitted, CHOICE.confidence))["gru-sgd"]
    narrow, wide = of_setting["training"]["0.0"]["any"], of_setting["machine"]["8.0"]["any"]
    assert (narrow["n"], narrow["value"] > 0) == (12, True)
    assert (wide["value"], wide["ci_high"]) == (0, pytest.approx(0.2425, abs=1e-3))
    chosen = {"training": 8.0, "machine": 8.0, "runs": 12, "bounds": len(bounds)}
    assert of_setting["chosen"] == chosen
    with pytest.raises(BadInputError, match="gru-sgd: has 1 completed"):
        setting_bounds("gru-sgd", healthy(1), CHOICE, ())
