"""Bounds of a setting from its healthy runs, and the margin that is chosen on them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.monitor.bounds import carried_bounds, carries, fit_bounds, reach_of, together
from failbench.monitor.breaks import breaks
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.tables import (
    MARGIN_SCHEMA,
    alarms_by_margin,
    measured_settings,
    write_monitored,
)
from failbench.monitor.signals import SIGNALS
from made_up_monitored import history as calm
from made_up_monitored import monitored

STATISTICS = [invariant for invariant in CATALOGUE if invariant.bound is None]
(NOT_BLOCKED,) = (invariant for invariant in CATALOGUE if invariant.id == "reads_not_blocked")


def history(**signals):
    steps = enumerate(zip(*signals.values(), strict=True))
    rows = tuple(Row(step, dict(zip(signals, values, strict=True))) for step, values in steps)
    return History("standard", 10, {}, {}, rows, End("completed", "callback", 79))


def healthy_runs(n):
    rng = np.random.default_rng(0)

    def drawn():
        return rng.lognormal(rng.normal(0, 0.2), 0.3, 60).tolist()

    return [history(**{one.name: drawn() for one in SIGNALS}) for _ in range(n)]


VALUES = st.floats(0.01, 100) | st.sampled_from([math.nan, math.inf, 0.0])


@given(
    st.lists(VALUES, min_size=1, max_size=40),
    st.sampled_from(["value", "first", "start", "past", "peak", "growth"]),
    st.sampled_from(["at most", "at least", "between"]),
    st.integers(1, 3),
    st.floats(-2, 2),
)
def test_a_run_reaches_beyond_a_bound_exactly_where_the_invariant_breaks(
    series, against, relation, rows, edge
):
    invariant = replace(NOT_BLOCKED, against=against, relation=relation, rows=rows)
    low = -math.inf if relation == "at most" else edge - 1
    high = math.inf if relation == "at least" else edge
    bound = {invariant.id: Bound(low, high)}
    run = history(blocked_data=series)
    reach = reach_of([run], [invariant])
    assert bool(reach.broken(0, bound)) == bool(breaks(run, [invariant], bound))


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_bounds_of_some_runs_are_those_that_are_fitted_to_them_alone(margin):
    runs = healthy_runs(5)
    runs[2] = history(loss=[1.0, 2.0])  # measured nearly nothing
    but_first = reach_of(runs, CATALOGUE).bounds(margin, np.arange(5) > 0)
    assert but_first == fit_bounds(runs[1:], CATALOGUE, margin)


def test_bounds_carry_over_where_settings_are_alike_and_values_have_no_unit():
    alike = {name: reach_of(healthy_runs(6), STATISTICS) for name in ("one", "two", "three")}
    bounds = carried_bounds(alike, (0.0, 1.0), 0.01)
    whole = together(alike.values()).bounds(0.0)
    expected = {each.id for each in STATISTICS if carries(each)} & whole.keys()
    assert "learning_rate_of_usual_size" in whole.keys() - expected
    assert bounds == {name: whole[name] for name in expected}
    # in one setting a share is as it is in no other: the invariant has no bound any more
    runs = [history(**{one.name: [9.0 + run] * 60 for one in SIGNALS}) for run in range(6)]
    apart = carried_bounds(alike | {"four": reach_of(runs, STATISTICS)}, (0.0, 1.0), 0.01)
    assert "gradients_not_zero" not in apart
    assert "learning_rate_not_raised" in apart  # which is held against its own past


def test_a_run_is_held_against_the_others_and_wider_bounds_alarm_less():
    runs, margins = healthy_runs(6), (0.0, 0.5, 64.0)
    alarms = alarms_by_margin(reach_of(runs, STATISTICS), margins)
    assert alarms.schema == MARGIN_SCHEMA
    expected = []
    for margin in margins:
        others = [fit_bounds(runs[:i] + runs[i + 1 :], STATISTICS, margin) for i in range(6)]
        broken = [breaks(run, STATISTICS, each) for run, each in zip(runs, others, strict=True)]
        expected.append((margin, sum(map(bool, broken)), 6))
    counts = alarms.filter(alarm="any").select("margin", "alarmed", "n").rows()
    assert counts == expected
    assert counts[0][1] > counts[-1][1]


def test_a_setting_without_measurements_is_refused_by_its_file(tmp_path):
    write_monitored(tmp_path, "gru-sgd", monitored([({"run_id": "a"}, calm())]))
    assert list(measured_settings(tmp_path)) == ["gru-sgd"]
    (tmp_path / "signals/gru-sgd.parquet").unlink()
    with pytest.raises(BadInputError, match=r"gru-sgd\.parquet: \(file\): has no measurement"):
        measured_settings(tmp_path)
