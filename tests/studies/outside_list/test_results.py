"""What counts as detected, told apart and named, and in how many steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from failbench.errors import BadInputError
from failbench.monitor.invariants import Bound
from failbench.monitored.tables import SIGNAL_SCHEMA
from failbench.studies.outside_list.results import judge, shares
from made_up_bugs import bug_of, recorded_bugs

FAULTY, TWIN = "library-1_faulty_0", "library-1_healthy_0"


def judged_of(measured, bug=None, level="standard", fitted=None):
    bug = bug or bug_of()
    (judged,) = judge(recorded_bugs([bug], measured), [bug], fitted or {}, level)
    return judged


def test_what_breaks_after_onset_is_detected_named_and_timed():
    judged = judged_of({FAULTY: {23: {"gradients_left": 4.0}}})
    assert (judged.detected, judged.told_apart, judged.named, judged.alarm) == (
        True,
        True,
        True,
        False,
    )
    assert judged.steps == 3
    assert judged.first.invariant.id == "gradients_cleared"


def test_a_run_in_which_nothing_breaks_is_missed():
    judged = judged_of({})
    assert not judged.detected
    assert (judged.steps, judged.first, judged.faulty.answer) == (None, None, "abstain")


def test_what_breaks_before_onset_alone_does_not_count():
    judged = judged_of({FAULTY: {10: {"gradients_left": 4.0}}})
    assert judged.faulty.answer == "model_software"
    assert not judged.detected
    assert not judged.named


def test_another_component_is_detected_and_not_named():
    bug = bug_of(component="unknown")
    judged = judged_of({FAULTY: {20: {"gradients_left": 4.0}}}, bug)
    assert judged.detected
    assert not judged.named


def test_what_breaks_in_the_twin_too_tells_nothing_apart():
    broken = {30: {"gradients_left": 4.0}}
    judged = judged_of({FAULTY: broken, TWIN: broken})
    assert judged.detected
    assert judged.alarm
    assert not judged.told_apart


def test_what_holds_in_the_twin_tells_apart_even_if_it_breaks_later():
    broken = {30: {"gradients_left": 4.0}}
    faulty = {30: {"gradients_left": 4.0}, 40: {"maximize": 1.0}}
    judged = judged_of({FAULTY: faulty, TWIN: broken})
    assert judged.told_apart
    assert judged.steps == 10
    assert judged.telling.invariant.id == "minimizes"


def test_of_several_ranks_the_one_speaks_in_which_something_broke_first():
    bug = bug_of(ranks=2)
    measured = {
        "library-1_faulty_0": {40: {"ranks_disagree": 3.0}},
        "library-1_faulty_1": {30: {"ranks_disagree": 3.0}},
    }
    assert judged_of(measured, bug).steps == 10


def test_a_lower_level_does_not_see_what_it_does_not_measure():
    measured = {FAULTY: {30: {"probe_determinism": 0.5}}}
    assert judged_of(measured, level="full").detected
    assert not judged_of(measured, level="standard").detected


def test_statistics_speak_where_bounds_are_given():
    measured = {FAULTY: {step: {"padding_share": 0.9} for step in (20, 30, 40)}}
    fitted = {"padding_share_steady": Bound(float("-inf"), 0.5)}
    assert not judged_of(measured).detected
    judged = judged_of(measured, bug_of(component="data_pipeline"), fitted=fitted)
    assert judged.named
    assert judged.steps == 10


def test_shares_are_of_all_recreated_bugs_with_wilsons_interval():
    bugs = [bug_of("a"), bug_of("b"), bug_of("c", ranks="", onset="", left_out="a GPU")]
    monitored = recorded_bugs(bugs, {"a_faulty_0": {22: {"gradients_left": 4.0}}})
    counted = shares(judge(monitored, bugs, {}, "standard"), confidence=0.95)
    assert (counted["detected"].count, counted["detected"].n) == (1, 2)
    assert counted["within_one_step"].count == 0
    assert counted["within_one_check"].count == 1
    assert counted["detected"].ci_low == pytest.approx(0.0945, abs=1e-3)
    assert counted["detected"].ci_high == pytest.approx(0.9055, abs=1e-3)


def test_a_level_that_was_not_recorded_is_refused():
    bug = bug_of()
    with pytest.raises(BadInputError, match="no signals of level full"):
        judge(recorded_bugs([bug], {}, "standard"), [bug], {}, "full")


def test_a_run_without_measurements_is_refused_and_not_taken_for_healthy():
    bug = bug_of()
    empty = replace(recorded_bugs([bug], {}), signals=SIGNAL_SCHEMA.to_frame())
    with pytest.raises(BadInputError, match="data/outside/signals"):
        judge(empty, [bug], {}, "standard")
