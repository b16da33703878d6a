"""The plan: names, and nominal configurations that say nothing of the cause."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from failbench.base.scenarios import read_scenarios
from failbench.recording import plan
from failbench.recording.nominal import NominalRanges, draw_nominal
from failbench.recording.plan import RecordParams, Setting, order_for

SLICES = 6
ADAMW, SGD = Setting("transformer", "adamw"), Setting("transformer", "sgd")
GRU = Setting("gru", "adamw")
SCENARIOS = read_scenarios(Path("data/scenarios"))


@pytest.fixture
def params(ranges):
    wanted = {each.name: {"seeds": 2, "successes": 12} for each in (ADAMW, SGD)}
    wanted[GRU.name] = {"seeds": 1, "successes": 10}
    return RecordParams(settings=wanted, hang_seconds=1, wall_limit_seconds=1, nominal=ranges)


@pytest.fixture
def planned(params):
    def pairs(setting=ADAMW, scenarios=SCENARIOS):
        return plan.plan_pairs(setting, scenarios, params, SLICES)

    return pairs


def test_each_run_has_a_unique_id_from_its_setting_and_seed(planned, params):
    ids = [run.run_id for pair in planned() for run in (pair.failure, pair.twin)]
    ids += [run.run_id for run in plan.plan_successes(ADAMW, params, SLICES)]
    assert len(set(ids)) == len(ids) == 2 * 2 * len(SCENARIOS) + 12
    one = "killed_by_operator-transformer-adamw-s1"
    assert {one, f"{one}-twin", "success-transformer-adamw-s11"} < set(ids)
    assert Setting("t5", "sgd", "paper").name == "t5-sgd-paper"


def test_pairs_are_recorded_in_random_order_so_that_categories_share_all_hours(planned):
    runs = [(pair.failure.seed, pair.failure.scenario) for pair in planned()]
    assert [seed for seed, _ in runs] == sorted(seed for seed, _ in runs)
    first, second = ([item for seed, item in runs if seed == wanted] for wanted in (0, 1))
    assert first != second
    for order in (first, second):
        # One category after the other would change 4 times; random orders change 60 times (sd 3).
        assert sum(a.category != b.category for a, b in pairwise(order)) > 40
    assert planned() == planned()


def test_a_twin_differs_from_its_run_in_the_fault_alone(planned, params):
    low, high = params.nominal.onset_step
    for pair in planned():
        fault, onset = pair.failure.scenario.fault, pair.failure.onset_step
        assert low <= onset <= high if fault.onset == "mid_run" else onset == 0
        assert pair.twin.twin_of == pair.failure.run_id
        pairs = (pair.failure, pair.twin)
        failing, healthy = (order_for(run, ADAMW, 4, "corpus.json") for run in pairs)
        assert failing.declaration == fault
        without = {"run_id": pair.twin.run_id, "declaration": None, "onset_step": None}
        assert healthy == replace(failing, **without)


def test_a_nominal_configuration_depends_on_nothing_but_id_and_seed(planned):
    other = dict.fromkeys(("category", "symptom_category"), "unknown")
    other |= {"difficulty": "easy", "expected_outcome": "killed", "fault": SCENARIOS[0].fault}

    def drawn(scenarios):
        pairs = planned(scenarios=scenarios)
        return {pair.failure.run_id: pair.failure.nominal for pair in pairs}

    known = drawn(SCENARIOS)
    assert drawn(tuple(each.model_copy(update=other) for each in SCENARIOS)) == known
    assert drawn(SCENARIOS[-1:]).items() < known.items()
    # The width of these ranges is one value, so that draws differ elsewhere.
    assert len(set(known.values())) == len(known)


def test_an_optimizer_changes_the_learning_rate_alone_and_keeps_its_quantile(planned, params):
    def quantile(setting, rate):
        low, high = params.nominal.learning_rate[setting.optimizer]
        return float(np.log(rate / low) / np.log(high / low))

    for adamw, sgd in zip(planned(), planned(SGD), strict=True):
        one, other = adamw.failure.nominal, sgd.failure.nominal
        assert replace(one, learning_rate=other.learning_rate) == other
        expected = quantile(SGD, other.learning_rate)
        assert 0 <= expected <= 1
        assert quantile(ADAMW, one.learning_rate) == pytest.approx(expected)


def test_a_scenario_is_not_planned_where_it_is_not_applicable(planned):
    reason = {"not_applicable": {"gru": "Nothing there has heads, says a test."}}
    changed = (SCENARIOS[0].model_copy(update=reason), SCENARIOS[1])
    assert {pair.failure.scenario.id for pair in planned(GRU, changed)} == {SCENARIOS[1].id}
    assert len(planned(ADAMW, changed)) == 4


def test_draws_stay_in_their_ranges_and_reach_their_ends(ranges):
    generator = np.random.default_rng(0)
    drawn = [draw_nominal(ranges, "adamw", SLICES, generator) for _ in range(300)]
    for name, expected in {
        "warmup_steps": range(5, 11),
        "planned_steps": range(130, 136),
        "onset_step": range(10, 21),
        "corpus_slice": range(SLICES),
        "distractor": ("none", "loss_spike"),
    }.items():
        assert {getattr(item, name) for item in drawn} == set(expected), name
    assert all(1.6 <= item.capacity_multiple <= 2.0 for item in drawn)


def test_ranges_that_make_no_sense_are_refused(ranges):
    for changes, complaint in (
        ({"warmup_steps": (10, 5)}, r"given as \[low, high\]"),
        ({"onset_step": (0, 20)}, "must be positive"),
        ({"capacity_multiple": (-1.0, 2.0)}, "must be positive"),
        ({"learning_rate": {"adamw": (0.1, 0.01), "sgd": (0.1, 0.4)}}, r"\[low, high\]"),
        ({"learning_rate": {"adamw": (0.01, 0.1)}}, "a range for each of adamw, sgd"),
        ({"learning_rate": {"adamw": (0.01, 0.1), "lion": (0.1, 0.4)}}, "learning_rate.lion"),
        ({"onset_step": (10, 31)}, "at least 100 steps before the shortest planned_steps"),
        ({"batch_size": ()}, "batch_size"),
        ({"colour": "red"}, "colour"),
    ):
        with pytest.raises(ValidationError, match=complaint):
            NominalRanges.model_validate(ranges.model_dump() | changes)


def test_a_run_with_a_remedy_differs_from_the_failing_run_in_what_the_remedy_says(params):
    (jump,) = (scenario for scenario in SCENARIOS if scenario.id == "learning_rate_jump")
    failure = plan.plan_pair(ADAMW, jump, 0, 0, params, SLICES).failure
    remedies = {
        "calmer": {"run": failure.run_id, "clip_norm": 0.25, "learning_rate_factor": 0.5},
        "elsewhere": {"run": "another-transformer-adamw-s0"},
    }
    params = RecordParams.model_validate(params.model_dump() | {"remedies": remedies})
    (planned,) = plan.plan_remedies(failure, params)
    assert (planned.run_id, planned.kind) == (f"{failure.run_id}-calmer", "remedy")
    assert planned.twin_of == failure.run_id
    failing, remedied = (order_for(item, ADAMW, 4, "corpus.json") for item in (failure, planned))
    rate = failure.nominal.learning_rate / 2
    calmer = replace(failure.nominal, learning_rate=rate, clip_norm=0.25)
    assert remedied == replace(failing, run_id=planned.run_id, nominal=calmer)
