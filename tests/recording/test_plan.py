"""The plan: names, and nominal configurations that say nothing of the cause."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from failbench.base.scenarios import read_scenarios
from failbench.recording.nominal import NominalRanges, draw_nominal
from failbench.recording.plan import (
    RecordParams,
    Setting,
    order_for,
    plan_pair,
    plan_pairs,
    plan_remedies,
    plan_successes,
)

SLICES = 6
ADAMW, SGD = Setting("transformer", "adamw"), Setting("transformer", "sgd")


@pytest.fixture
def params(ranges):
    wanted = {
        "transformer-adamw": {"seeds": 2, "successes": 12},
        "transformer-sgd": {"seeds": 2, "successes": 12},
        "gru-adamw": {"seeds": 1, "successes": 10},
    }
    return RecordParams(settings=wanted, hang_seconds=1, wall_limit_seconds=1, nominal=ranges)


@pytest.fixture(scope="module")
def scenarios():
    return read_scenarios(Path("data/scenarios"))


def test_each_run_has_a_unique_id_from_its_setting_and_seed(scenarios, params):
    pairs = plan_pairs(ADAMW, scenarios, params, SLICES)
    ids = [run.run_id for pair in pairs for run in (pair.failure, pair.twin)]
    ids += [run.run_id for run in plan_successes(ADAMW, params, SLICES)]
    assert len(set(ids)) == len(ids) == 2 * 2 * len(scenarios) + 12
    assert {
        "killed_by_operator-transformer-adamw-s1",
        "killed_by_operator-transformer-adamw-s1-twin",
        "success-transformer-adamw-s11",
    } < set(ids)
    assert Setting("t5", "sgd", "paper").name == "t5-sgd-paper"


def test_pairs_are_recorded_in_random_order_so_that_categories_share_all_hours(scenarios, params):
    pairs = plan_pairs(ADAMW, scenarios, params, SLICES)
    planned = [(pair.failure.seed, pair.failure.scenario) for pair in pairs]
    assert [seed for seed, _ in planned] == sorted(seed for seed, _ in planned)
    first, second = ([item for seed, item in planned if seed == wanted] for wanted in (0, 1))
    assert first != second
    for order in (first, second):
        # One category after the other would change 4 times; random orders change 60 times (sd 3).
        changes = sum(a.category != b.category for a, b in pairwise(order))
        assert changes > 40
    assert plan_pairs(ADAMW, scenarios, params, SLICES) == pairs


def test_twin_differs_from_its_run_in_the_fault_alone(scenarios, params):
    for pair in plan_pairs(ADAMW, scenarios, params, SLICES):
        assert pair.twin.twin_of == pair.failure.run_id
        failing = order_for(pair.failure, ADAMW, 4, "corpus.json")
        healthy = order_for(pair.twin, ADAMW, 4, "corpus.json")
        assert failing.declaration == pair.failure.scenario.fault
        assert healthy == replace(
            failing, run_id=pair.twin.run_id, declaration=None, onset_step=None
        )


def test_onset_is_drawn_for_mid_run_faults_and_zero_for_others(scenarios, params):
    low, high = params.nominal.onset_step
    for pair in plan_pairs(ADAMW, scenarios, params, SLICES):
        onset = pair.failure.onset_step
        if pair.failure.scenario.fault.onset == "mid_run":
            assert low <= onset <= high
        else:
            assert onset == 0


def test_nominal_configuration_depends_on_nothing_but_id_and_seed(scenarios, params):
    relabelled = tuple(
        scenario.model_copy(
            update={
                "category": "unknown",
                "symptom_category": "unknown",
                "difficulty": "easy",
                "expected_outcome": "killed",
                "fault": scenarios[0].fault,
            }
        )
        for scenario in scenarios
    )

    def drawn(planned):
        pairs = plan_pairs(ADAMW, planned, params, SLICES)
        return {pair.failure.run_id: pair.failure.nominal for pair in pairs}

    known = drawn(scenarios)
    assert drawn(relabelled) == known
    assert drawn(scenarios[-1:]).items() < known.items()
    # The width of these ranges is one value, so that draws differ elsewhere.
    assert len(set(known.values())) == len(known)


def test_optimizer_changes_the_learning_rate_alone_and_keeps_its_quantile(scenarios, params):
    def quantile(setting, rate):
        low, high = params.nominal.learning_rate[setting.optimizer]
        return float(np.log(rate / low) / np.log(high / low))

    pairs = zip(
        plan_pairs(ADAMW, scenarios, params, SLICES),
        plan_pairs(SGD, scenarios, params, SLICES),
        strict=True,
    )
    for adamw, sgd in pairs:
        one, other = adamw.failure.nominal, sgd.failure.nominal
        assert replace(one, learning_rate=other.learning_rate) == other
        assert 0 <= quantile(ADAMW, one.learning_rate) <= 1
        assert quantile(ADAMW, one.learning_rate) == pytest.approx(
            quantile(SGD, other.learning_rate)
        )


def test_scenario_is_not_planned_where_it_is_not_applicable(scenarios, params):
    reason = {"gru": "Nothing there has heads, says a test."}
    changed = (scenarios[0].model_copy(update={"not_applicable": reason}), scenarios[1])
    gru = plan_pairs(Setting("gru", "adamw"), changed, params, SLICES)
    assert {pair.failure.scenario.id for pair in gru} == {scenarios[1].id}
    assert len(plan_pairs(ADAMW, changed, params, SLICES)) == 4


def test_draws_stay_in_their_ranges_and_reach_their_ends(ranges):
    generator = np.random.default_rng(0)
    drawn = [draw_nominal(ranges, "adamw", SLICES, generator) for _ in range(300)]
    assert {item.warmup_steps for item in drawn} == set(range(5, 11))
    assert {item.planned_steps for item in drawn} == set(range(130, 136))
    assert {item.onset_step for item in drawn} == set(range(10, 21))
    assert {item.corpus_slice for item in drawn} == set(range(SLICES))
    assert {item.distractor for item in drawn} == {"none", "loss_spike"}
    assert all(1.6 <= item.capacity_multiple <= 2.0 for item in drawn)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"warmup_steps": (10, 5)}, r"given as \[low, high\]"),
        ({"onset_step": (0, 20)}, "must be positive"),
        ({"capacity_multiple": (-1.0, 2.0)}, "must be positive"),
        ({"learning_rate": {"adamw": (0.1, 0.01), "sgd": (0.1, 0.4)}}, r"\[low, high\]"),
        ({"learning_rate": {"adamw": (0.01, 0.1)}}, "a range for each of adamw, sgd"),
        ({"learning_rate": {"adamw": (0.01, 0.1), "lion": (0.1, 0.4)}}, "learning_rate.lion"),
        ({"onset_step": (10, 31)}, "at least 100 steps before the shortest planned_steps"),
        ({"batch_size": ()}, "batch_size"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(ranges, changes, complaint):
    with pytest.raises(ValidationError, match=complaint):
        NominalRanges.model_validate(ranges.model_dump() | changes)


def with_remedies(params, **remedies):
    return RecordParams.model_validate(params.model_dump() | {"remedies": remedies})


def test_a_run_with_a_remedy_differs_from_the_failing_run_in_what_the_remedy_says(
    scenarios, params
):
    (jump,) = (scenario for scenario in scenarios if scenario.id == "learning_rate_jump")
    failure = plan_pair(ADAMW, jump, 0, 0, params, SLICES).failure
    remedies = with_remedies(
        params,
        calmer={"run": failure.run_id, "clip_norm": 0.25, "learning_rate_factor": 0.5},
        elsewhere={"run": "another-transformer-adamw-s0"},
    )
    (planned,) = plan_remedies(failure, remedies)
    assert (planned.run_id, planned.kind) == (f"{failure.run_id}-calmer", "remedy")
    assert planned.twin_of == failure.run_id
    failing, remedied = (order_for(item, ADAMW, 4, "corpus.json") for item in (failure, planned))
    calmer = replace(
        failure.nominal, learning_rate=failure.nominal.learning_rate / 2, clip_norm=0.25
    )
    assert remedied == replace(failing, run_id=planned.run_id, nominal=calmer)
