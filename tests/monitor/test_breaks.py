"""Breaks, bounds and diagnoses of histories that are written down here."""

import json
import math
import re
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.monitor.bounds import fit_bounds, read_bounds, write_bounds
from failbench.monitor.breaks import FEWEST, breaks, compared, measured
from failbench.monitor.end import End
from failbench.monitor.endings import ENDINGS
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE, WINDOW, Bound, read_invariants
from failbench.monitor.records.first_break import OUTRANKED, diagnose
from failbench.monitor.signals import SIGNALS

BY_ID = {invariant.id: invariant for invariant in CATALOGUE}
COMPLETED = End("completed", "callback", 99)
LOGIC = BY_ID["labels_are_classes"]
STATISTIC = BY_ID["rows_not_longer"]
FITTED = {STATISTIC.id: Bound(-math.inf, 1.0)}


def history(end=COMPLETED, **signals):
    rows = tuple(
        Row(step, {k: v for k, v in zip(signals, each, strict=True) if v is not None})
        for step, each in enumerate(zip_longest(*signals.values()))
    )
    return History("standard", 1, {}, {}, rows, end)


@pytest.mark.parametrize("invariant", CATALOGUE, ids=lambda invariant: invariant.id)
def test_an_invariant_is_a_sentence_of_a_component_with_a_source(invariant):
    assert invariant.statement.endswith(".")
    assert invariant.statement[0].isupper()
    assert invariant.source
    assert invariant.rows >= 1
    # logic needs no healthy runs, and statistics have no bound without them
    assert (invariant.bound is None) == (invariant.source == "healthy runs")
    assert invariant.kind != "statistic" or invariant.bound is None
    assert invariant.kind != "logic" or invariant.bound is not None
    # what may not change at all is a count or a ratio
    if invariant.against == "first" and invariant.bound == Bound(-0.0, 0.0):
        assert next(each for each in SIGNALS if each.name == invariant.signal).exact


def test_every_component_has_invariants_and_an_ending():
    assert {invariant.component for invariant in CATALOGUE} == set(CATEGORIES)
    assert {ending.component for ending in ENDINGS} == set(CATEGORIES)


NUMBERS = st.lists(st.floats(0.1, 1e6), min_size=1, max_size=60)


@given(NUMBERS, st.floats(0, 10), st.integers(FEWEST, 30))
def test_ratios_are_those_of_the_definition(numbers, floor, window):
    values = np.array(numbers)
    size = np.log(values + floor)
    past, start, peak = (compared(values, k, floor, window) for k in ("past", "start", "peak"))
    for place in range(len(values)):
        before = size[max(0, place - window) : place]
        expected = size[place] - np.median(before) if place >= FEWEST else math.nan
        assert past[place] == pytest.approx(expected, nan_ok=True)
        expected = size[place] - np.median(size[:window]) if place >= window else math.nan
        assert start[place] == pytest.approx(expected, nan_ok=True)
        assert peak[place] == pytest.approx(size[place] - size[: place + 1].max())
    growth = compared(np.array([3.0, 5.0, 4.0, 5.0, 6.0, 8.0]), "growth", 0.0, 8)
    assert growth[2:].tolist() == [-1.0, 0.0, 1.0, 2.0]


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


LASTING, GROWN = [9.0] * 30, [99.0]
MEAN = BY_ID["loss_is_mean_cross_entropy"]
RATIOS = [1.0, math.nan, 1.0, 2.0]
ALIGNED = BY_ID["labels_aligned"]


@pytest.mark.parametrize(
    ("invariant", "signals", "step"),
    [
        pytest.param(LOGIC, {"labels_outside": [0, 0, 3, 5]}, 2, id="the first value outside"),
        pytest.param(STATISTIC, {"longest_row": LASTING + GROWN + LASTING}, None, id="brief"),
        pytest.param(STATISTIC, {"longest_row": LASTING + GROWN * 2}, 31, id="it lasted"),
        pytest.param(STATISTIC, {"longest_row": [9.0] * 10}, None, id="calm"),
        pytest.param(BY_ID["loss_of_right_size"], {"loss_ratio": [1.0, math.nan]}, 1, id="nan"),
        # what it presumes does not hold; holds; and is not known
        pytest.param(
            MEAN, {"loss_ratio": RATIOS, "logits_nonfinite": [0, 5, 0, 0]}, 3, id="logits"
        ),
        pytest.param(MEAN, {"loss_ratio": RATIOS, "logits_nonfinite": [0] * 4}, 1, id="loss"),
        pytest.param(MEAN, {"loss_ratio": RATIOS}, 1, id="nothing known of the logits"),
        pytest.param(ALIGNED, {"labels_next": [1.0, 1.0, 0.1]}, 2, id="no next tokens any more"),
        pytest.param(ALIGNED, {"labels_next": [0.1, 0.0, 0.3]}, None, id="never next tokens"),
    ],
)
def test_an_invariant_breaks_where_a_value_lay_outside_for_long_enough(invariant, signals, step):
    found = breaks(history(**signals), (invariant,), FITTED)
    assert [each.step for each in found] == ([] if step is None else [step])
    if invariant is LOGIC:
        assert (found[0].value, found[0].bound.high) == (3.0, 0.0)
    if invariant is STATISTIC:
        assert not breaks(history(**signals), (invariant,), {}), "without a bound never"


def test_catalogues_of_older_versions_are_read_as_they_were_meant():
    row = "a,unknown,f,logic,rows,value,at most,0,1,A.,definition"
    head = "id,component,family,kind,signal,against,relation,bound,rows,statement,source"
    (old,) = read_invariants(f"{head}\n{row}")
    assert (old.window, old.presumes, old.past_of_checks) == (WINDOW, "", False)
    (new,) = read_invariants(f"{head},window,presumes,past_of\n{row},8,loss,checks")
    assert (new.window, new.presumes, new.past_of_checks) == (8, "loss", True)
    with pytest.raises(ValueError, match="tuple"):
        read_invariants(f"{head},window,presumes\n{row},8,lost")


def test_no_run_breaks_bounds_that_were_fitted_to_it():
    rng = np.random.default_rng(0)
    runs = [
        history(**{one.name: rng.lognormal(sigma=0.3, size=80).tolist() for one in SIGNALS})
        for _ in range(6)
    ]
    fitted = fit_bounds(runs, CATALOGUE, margin=0.0)
    statistics = [each for each in CATALOGUE if each.bound is None]
    assert set(fitted) == {each.id for each in statistics}
    assert not any(breaks(run, statistics, fitted) for run in runs)

    # and a margin goes beyond the extreme by its distance from the median
    invariant = replace(BY_ID["rows_of_one_length"], rows=2)
    runs = [history(row_length_ratio=[1, top, top, 1]) for top in (2.0, 3.0, 7.0)]
    assert fit_bounds(runs, (invariant,), 0.5) == {invariant.id: Bound(-math.inf, 9.0)}


def bounds_file(form=1, **bounds):
    intervals = {name: {"low": low, "high": high} for name, (low, high) in bounds.items()}
    return json.dumps({"format": form, "runs": 1, "fitted_on": "", "bounds": intervals})


def test_bounds_are_read_as_written_and_a_broken_or_foreign_file_refused_by_name(tmp_path):
    path = tmp_path / "bounds.json"
    bounds = {STATISTIC.id: Bound(-math.inf, 1.25), "activations_steady": Bound(-2.0, 3.0)}
    write_bounds(path, bounds, 24, "made up")
    stored = read_bounds(path, CATALOGUE)
    assert (stored.intervals(), stored.runs) == (bounds, 24)
    path.unlink()
    for content, field in (
        (None, "cannot be read"),
        ("{", "(file)"),
        (bounds_file(2), "format"),
        (bounds_file(x=(0, 1)), "x"),
        (bounds_file(activations_steady=(2, 1)), "activations_steady"),
    ):
        if content is not None:
            path.write_text(content, "utf-8")
        with pytest.raises(BadInputError, match=re.escape(field)) as refused:
            read_bounds(path, CATALOGUE)
        assert "bounds.json" in str(refused.value)


@pytest.mark.parametrize(
    ("logic_at", "long_from", "answer"),
    [
        (None, None, ABSTAIN), (50, None, "data_pipeline"), (None, 50, "memory_hardware"),
        (40, 50, "data_pipeline"), (51 + OUTRANKED, 50, "data_pipeline"),
        (52 + OUTRANKED, 50, "memory_hardware"),
    ],
)  # fmt: skip
def test_the_earliest_break_decides_and_logic_outranks_others(logic_at, long_from, answer):
    outside = [float(step >= (logic_at or 100)) for step in range(100)]
    long = [99.0 if step >= (long_from or 100) else 9.0 for step in range(100)]
    run = history(labels_outside=outside, longest_row=long)
    assert diagnose(run, FITTED).answer == answer


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
