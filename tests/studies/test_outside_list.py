from dataclasses import replace

import pytest

from failbench.base.errors import BadInputError
from failbench.monitor.invariants import Bound
from failbench.monitor.records.tables import SIGNAL_SCHEMA
from made_up_bugs import bug_of, recorded_bugs
from outside_list import judge, shares

FAULTY, TWIN = "library-1_faulty_0", "library-1_healthy_0"
LEFT = {30: {"gradients_left": 4.0}}


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


def test_shares_are_of_all_recreated_bugs_with_wilsons_interval():
    bugs = [bug_of("a"), bug_of("b"), bug_of("c", ranks="", onset="", left_out="a GPU")]
    monitored = recorded_bugs(bugs, {"a_faulty_0": {22: {"gradients_left": 4.0}}})
    found = shares(judge(monitored, bugs, {}, "standard"), confidence=0.95)
    counts = {row["metric"]: row for row in found.filter(level="standard").to_dicts()}
    assert (counts["detected"]["count"], counts["detected"]["n"]) == (1, 2)
    within = [counts[f"within_one_{what}"]["count"] for what in ("step", "check")]
    assert within == [0, 1]
    bounds = [counts["detected"][name] for name in ("ci_low", "ci_high")]
    assert bounds == pytest.approx([0.0945, 0.9055], abs=1e-3)


def test_a_run_without_the_level_or_any_measurement_is_refused_and_not_taken_for_healthy():
    bug = bug_of()
    with pytest.raises(BadInputError, match="no signals of level full"):
        judge(recorded_bugs([bug], {}, "standard"), [bug], {}, "full")
    empty = replace(recorded_bugs([bug], {}), signals=SIGNAL_SCHEMA.to_frame())
    with pytest.raises(BadInputError, match="data/outside/signals"):
        judge(empty, [bug], {}, "standard")
