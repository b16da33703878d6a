"""Breaks, bounds and diagnoses of histories that are written down here."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ABSTAIN
from failbench.monitor.bounds import fit_bounds, read_bounds, write_bounds
from failbench.monitor.breaks import FEWEST, breaks, compared, measured
from failbench.monitor.diagnosis import OUTRANKED, diagnose
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE, WINDOW, Bound, read_invariants
from failbench.monitor.signals import SIGNALS

BY_ID = {invariant.id: invariant for invariant in CATALOGUE}
COMPLETED = End("completed", "callback", 99)
LOGIC = BY_ID["labels_are_classes"]
STATISTIC = BY_ID["rows_not_longer"]


def history(end=COMPLETED, **signals):
    """A history with a measurement of each signal at every step."""
    longest = max((len(values) for values in signals.values()), default=0)
    rows = tuple(
        Row(step, {name: values[step] for name, values in signals.items() if step < len(values)})
        for step in range(longest)
    )
    return History("standard", 1, {}, {}, rows, end)


# The catalogue.


def test_logic_that_allows_no_change_speaks_of_exact_signals_or_of_ratios():
    exact = {signal.name for signal in SIGNALS if signal.exact}
    for invariant in CATALOGUE:
        if invariant.against == "first" and invariant.bound == Bound(-0.0, 0.0):
            assert invariant.signal in exact


# What values are held against.


@given(
    st.lists(st.floats(0.1, 1e6), min_size=1, max_size=60),
    st.floats(0, 10),
    st.integers(FEWEST, 30),
)
def test_ratios_are_those_of_the_definition(numbers, floor, window):
    values = np.array(numbers)
    size = np.log(values + floor)
    past, start, peak = (
        compared(values, kind, floor, window) for kind in ("past", "start", "peak")
    )
    for place in range(len(values)):
        before = size[max(0, place - window) : place]
        expected = size[place] - np.median(before) if place >= FEWEST else math.nan
        assert past[place] == pytest.approx(expected, nan_ok=True)
        expected = size[place] - np.median(size[:window]) if place >= window else math.nan
        assert start[place] == pytest.approx(expected, nan_ok=True)
        assert peak[place] == pytest.approx(size[place] - size[: place + 1].max())


def test_the_past_of_a_dense_stretch_is_that_of_the_checks_before():
    """Before its end a log holds each step: eight of those are no past of eighty steps."""
    steps = [*range(0, 100, 10), *range(100, 120)]
    rows = tuple(Row(step, {"learning_rate": 0.5 if step >= 100 else 0.1}) for step in steps)
    run = History("standard", 10, {}, {}, rows, COMPLETED)
    invariant = BY_ID["learning_rate_not_raised"]
    assert invariant.past_of_checks
    bound = {invariant.id: Bound(-math.inf, 1.0)}
    for each in (invariant, replace(invariant, past_of_checks=False)):
        _, _, held = measured(run, each)
        assert held[10] == pytest.approx(math.log(5))
        assert (held[10:] > 1).all() == each.past_of_checks
        assert breaks(run, (each,), bound)[0].step == 100


def test_growth_is_over_the_largest_so_far():
    growth = compared(np.array([3.0, 5.0, 4.0, 5.0, 6.0, 8.0]), "growth", 0.0, 8)
    assert growth[2:].tolist() == [-1.0, 0.0, 1.0, 2.0]


# Breaks.


def test_logic_breaks_at_the_first_value_outside_and_is_reported_with_it():
    (broken,) = breaks(history(labels_outside=[0, 0, 3, 5]), (LOGIC,), {})
    assert (broken.step, broken.value, broken.bound.high) == (2, 3.0, 0.0)


def test_a_statistic_breaks_when_it_lasted_and_without_a_bound_never():
    calm, long = [9.0] * 30, [99.0]
    bound = {STATISTIC.id: Bound(-math.inf, 1.0)}
    assert not breaks(history(longest_row=[*calm, *long, *calm]), (STATISTIC,), bound)
    (broken,) = breaks(history(longest_row=[*calm, *long * 2]), (STATISTIC,), bound)
    assert broken.step == 31
    assert not breaks(history(longest_row=[*calm, *long * 2]), (STATISTIC,), {})


def test_what_is_no_number_lies_outside():
    invariant = BY_ID["loss_of_right_size"]
    (broken,) = breaks(history(loss_ratio=[1.0, math.nan]), (invariant,), {})
    assert broken.step == 1
    assert not breaks(history(longest_row=[9.0] * 10), (STATISTIC,), {STATISTIC.id: Bound(0, 1)})


def test_an_invariant_says_nothing_of_steps_where_what_it_presumes_does_not_hold():
    invariant = BY_ID["loss_is_mean_cross_entropy"]
    assert invariant.presumes == "logits_nonfinite"
    ratios = [1.0, math.nan, 1.0, 2.0]
    (broken,) = breaks(history(loss_ratio=ratios, logits_nonfinite=[0, 5, 0, 0]), (invariant,), {})
    assert broken.step == 3
    (broken,) = breaks(history(loss_ratio=ratios, logits_nonfinite=[0, 0, 0, 0]), (invariant,), {})
    assert broken.step == 1, "logits are finite and the loss is not"
    (broken,) = breaks(history(loss_ratio=ratios), (invariant,), {})
    assert broken.step == 1, "nothing is known of the logits"


def test_catalogues_of_older_versions_are_read_as_they_were_meant():
    row = "a,unknown,f,logic,rows,value,at most,0,1,A.,definition"
    head = "id,component,family,kind,signal,against,relation,bound,rows,statement,source"
    (old,) = read_invariants(f"{head}\n{row}")
    assert (old.window, old.presumes, old.past_of_checks) == (WINDOW, "", False)
    (new,) = read_invariants(f"{head},window,presumes,past_of\n{row},8,loss,checks")
    assert (new.window, new.presumes, new.past_of_checks) == (8, "loss", True)
    with pytest.raises(ValueError, match="tuple"):
        read_invariants(f"{head},window,presumes\n{row},8,lost")


# Bounds.


def test_no_run_breaks_bounds_that_were_fitted_to_it():
    generator = np.random.default_rng(0)
    runs = [
        history(
            **{signal.name: generator.lognormal(sigma=0.3, size=80).tolist() for signal in SIGNALS}
        )
        for _ in range(6)
    ]
    fitted = fit_bounds(runs, CATALOGUE, margin=0.0)
    assert set(fitted) == {each.id for each in CATALOGUE if each.bound is None}
    statistics = [each for each in CATALOGUE if each.bound is None]
    for run in runs:
        assert not breaks(run, statistics, fitted)


def test_a_margin_goes_beyond_the_extreme_by_its_distance_from_the_median():
    invariant = replace(BY_ID["rows_of_one_length"], rows=2)
    runs = [history(row_length_ratio=[1, top, top, 1]) for top in (2.0, 3.0, 7.0)]
    assert fit_bounds(runs, (invariant,), 0.5) == {invariant.id: Bound(-math.inf, 9.0)}


def test_bounds_are_read_as_they_were_written(tmp_path):
    bounds = {STATISTIC.id: Bound(-math.inf, 1.25), "activations_steady": Bound(-2.0, 3.0)}
    write_bounds(tmp_path / "bounds.json", bounds, 24, "made up")
    stored = read_bounds(tmp_path / "bounds.json", CATALOGUE)
    assert (stored.intervals(), stored.runs) == (bounds, 24)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (None, "cannot be read"),
        ("{", "(file)"),
        ({"format": 2, "runs": 1, "fitted_on": "", "bounds": {}}, "format"),
        ({"format": 1, "runs": 1, "fitted_on": "", "bounds": {"x": {"low": 0, "high": 1}}}, "x"),
        (
            {
                "format": 1,
                "runs": 1,
                "fitted_on": "",
                "bounds": {"activations_steady": {"low": 2, "high": 1}},
            },
            "activations_steady",
        ),
    ],
)
def test_a_broken_or_foreign_file_of_bounds_is_refused_by_name(tmp_path, content, field):
    path = tmp_path / "bounds.json"
    if content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    with pytest.raises(BadInputError) as refused:
        read_bounds(path, CATALOGUE)
    assert field in str(refused.value)
    assert "bounds.json" in str(refused.value)


# Precedence.

FITTED = {STATISTIC.id: Bound(-math.inf, 1.0)}


def run_with(logic_at, long_from, end=COMPLETED):
    steps = 100
    return history(
        end,
        labels_outside=[float(logic_at is not None and step >= logic_at) for step in range(steps)],
        longest_row=[
            99.0 if long_from is not None and step >= long_from else 9.0 for step in range(steps)
        ],
    )


@pytest.mark.parametrize(
    ("logic_at", "long_from", "answer"),
    [
        (None, None, ABSTAIN),
        (50, None, "data_pipeline"),
        (None, 50, "memory_hardware"),
        (40, 50, "data_pipeline"),
        (51 + OUTRANKED, 50, "data_pipeline"),
        (52 + OUTRANKED, 50, "memory_hardware"),
    ],
)
def test_the_earliest_break_decides_and_logic_outranks_a_statistic_shortly_before(
    logic_at, long_from, answer
):
    assert diagnose(run_with(logic_at, long_from), FITTED).answer == answer


@pytest.mark.parametrize(
    ("end", "signals", "answer"),
    [
        (End("out of memory", "forward", 9), {}, "memory_hardware"),
        (End("out of memory", "loss", 9), {}, "model_software"),
        (End("out of memory", "loss", 9), {"rows": [4, 4, 8]}, "memory_hardware"),
        (End("killed", "forward", 9), {}, "unknown"),
        (End("killed", "forward", 9), {"labels_outside": [0, 2]}, "data_pipeline"),
        (End("hung", "data", 9), {}, "data_pipeline"),
        (End("exception", "data", 9), {}, "data_pipeline"),
        (End("exception", "forward", 9), {}, "model_software"),
        (End("exception", "build", 0, "UnicodeDecodeError"), {}, "data_pipeline"),
        (End("exception", "loss", 9, "IndexError"), {}, "data_pipeline"),
        (End("exception", "loss", 9, "ValueError"), {}, "model_software"),
        (End("exception", "callback", 9, "ConnectionResetError"), {}, "unknown"),
        (End("exception", "forward", 9), {"gradients_nonfinite": [0, 1]}, "optimization"),
        (End("exception", "forward", 9), {"outside_tokenizer": [0, 1]}, "data_pipeline"),
        (COMPLETED, {"gradients_nonfinite": [0, 1]}, "optimization"),
        (End("running", "forward", 9), {}, ABSTAIN),
    ],
)
def test_ends_speak_before_after_and_last(end, signals, answer):
    assert diagnose(history(end, **signals), {}).answer == answer
