"""Bounds of a setting from its healthy runs, and the margin that is chosen on them."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.monitor.bounds import fit_bounds, reach_of
from failbench.monitor.breaks import breaks
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.fitting import (
    MARGIN_SCHEMA,
    alarms_by_margin,
    chosen_margin,
    healthy_histories,
    measured_settings,
)
from failbench.monitor.records.tables import write_monitored
from failbench.monitor.signals import SIGNALS
from made_up_monitored import history as calm
from made_up_monitored import monitored

BY_ID = {invariant.id: invariant for invariant in CATALOGUE}
COMPLETED = End("completed", "callback", 79)


def history(end=COMPLETED, **signals):
    longest = max(len(values) for values in signals.values())
    rows = tuple(
        Row(step, {name: values[step] for name, values in signals.items() if step < len(values)})
        for step in range(longest)
    )
    return History("standard", 10, {}, {}, rows, end)


def healthy_runs(n, steps=60):
    """Runs in which every signal varies, from run to run too."""
    generator = np.random.default_rng(0)
    return [
        history(
            **{
                signal.name: generator.lognormal(generator.normal(0, 0.2), 0.3, steps).tolist()
                for signal in SIGNALS
            }
        )
        for _ in range(n)
    ]


STATISTICS = [invariant for invariant in CATALOGUE if invariant.bound is None]

values = st.lists(
    st.floats(0.01, 100) | st.sampled_from([math.nan, math.inf, 0.0]), min_size=1, max_size=40
)


@given(
    values,
    st.sampled_from(["value", "first", "start", "past", "peak", "growth"]),
    st.sampled_from(["at most", "at least", "between"]),
    st.integers(1, 3),
    st.floats(-2, 2),
)
def test_a_run_reaches_beyond_a_bound_exactly_where_the_invariant_breaks(
    series, against, relation, rows, edge
):
    invariant = replace(BY_ID["reads_not_blocked"], against=against, relation=relation, rows=rows)
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


def test_a_run_is_held_against_the_others_and_wider_bounds_alarm_less():
    runs = healthy_runs(6)
    margins = (0.0, 0.5, 64.0)
    alarms = alarms_by_margin(reach_of(runs, STATISTICS), margins)
    assert alarms.schema == MARGIN_SCHEMA
    for margin in margins:
        expected = sum(
            bool(
                breaks(run, STATISTICS, fit_bounds([*runs[:i], *runs[i + 1 :]], STATISTICS, margin))
            )
            for i, run in enumerate(runs)
        )
        (row,) = alarms.filter(margin=margin, alarm="any").to_dicts()
        assert (row["alarmed"], row["n"]) == (expected, 6)
    by_margin = alarms.filter(pl.col("alarm") == "any")["alarmed"].to_list()
    assert by_margin[0] > by_margin[-1]


def table(*alarmed, n=100):
    rows = [(float(place), "any", count, n) for place, count in enumerate(alarmed)]
    return pl.DataFrame(rows, schema=MARGIN_SCHEMA, orient="row")


@pytest.mark.parametrize(
    ("alarmed", "margin"), [((9, 1, 0), 1.0), ((9, 1, 3), 1.0), ((9, 4, 2), 2.0), ((0, 0, 0), 0.0)]
)
def test_the_smallest_margin_with_few_alarms_is_taken_and_else_the_largest(alarmed, margin):
    assert chosen_margin(table(*alarmed), most_alarmed=0.01) == margin


def test_a_setting_without_measurements_is_refused_by_its_file(tmp_path):
    run = monitored([({"run_id": "a"}, calm())])
    write_monitored(tmp_path, "gru-sgd", run)
    assert list(measured_settings(tmp_path)) == ["gru-sgd"]
    (tmp_path / "signals/gru-sgd.parquet").unlink()
    with pytest.raises(BadInputError, match=r"gru-sgd\.parquet: \(file\): has no measurement"):
        measured_settings(tmp_path)


def test_only_successes_that_completed_are_healthy_each_in_its_setting(tmp_path):
    crashed = calm(End("exception", "forward", 0, "ValueError", ""))
    runs = monitored(
        [
            ({"run_id": "a", "kind": "success"}, calm()),
            ({"run_id": "b", "kind": "success"}, crashed),
            ({"run_id": "c", "kind": "twin"}, calm()),
            ({"run_id": "d", "kind": "failure"}, calm()),
            ({"run_id": "e", "kind": "success", "architecture": "t5", "scale": "paper"}, calm()),
        ]
    )
    write_monitored(tmp_path, "all", runs)
    settings = measured_settings(tmp_path)
    assert list(settings) == ["gru-sgd", "t5-sgd-paper"]
    assert [len(healthy_histories(each)) for each in settings.values()] == [1, 1]
