import numpy as np
import polars as pl
import pytest

from failbench.base.detector import Detection, detect, healthy_limits, measure
from failbench.base.errors import BadInputError
from failbench.base.telemetry import STEP_SCHEMA
from made_up_declarations import detector_params

PARAMS = detector_params(head_steps=40)
STEPS = 120
LAST = STEPS - 1
SEEN = ("step", "loss", "gradient_norm", "step_seconds", "validation_loss")


def columns(level=0.0):
    """A healthy run, higher by ``level`` in all that the detector looks at."""
    step = np.arange(STEPS)
    loss = 2 + 4 * np.exp(-step / 30) + level
    held_out = np.where(step % 10 == 0, loss, np.nan)
    series = (step, loss, np.full(STEPS, 1 + level), np.full(STEPS, 0.1), held_out)
    return dict(zip(SEEN, series, strict=True))


def frame(values):
    """Step rows that have the columns of ``SEEN`` and no other."""
    validated = pl.Series(values["step"] % 10 == 0)
    rows = pl.DataFrame(values).cast({name: STEP_SCHEMA[name] for name in SEEN})
    return rows.with_columns(pl.when(validated).then(pl.col("validation_loss")))


def healthy_signals(count=10):
    return [measure(frame(columns(0.02 * item)), PARAMS) for item in range(count)]


@pytest.fixture(scope="module")
def limits():
    return healthy_limits(healthy_signals(), PARAMS)


def verdict(limits, values, ending="completed"):
    return detect(ending, frame(values), limits, PARAMS)


@pytest.mark.parametrize("level", [0.0, 0.09, 0.18])
def test_a_healthy_run_completes_at_its_last_step(limits, level):
    assert verdict(limits, columns(level)) == Detection("completed", LAST)


SPOILT = {
    "a loss above every healthy one": ("loss", slice(60, None), 50.0, "diverged", 60),
    "a loss that is no number": ("loss", slice(60, None), np.nan, "diverged", 60),
    "a loss without end": ("loss", slice(60, None), np.inf, "diverged", 60),
    "twenty steps above": ("loss", slice(60, 80), 50.0, "diverged", 60),
    "nineteen steps above": ("loss", slice(60, 79), 50.0, "completed", LAST),
    "twenty steps without a number": ("loss", slice(60, 80), np.nan, "diverged", 60),
    "nineteen steps without a number": ("loss", slice(60, 79), np.nan, "completed", LAST),
    "late overfitting": ("validation_loss", slice(80, None), 4.0, "degraded", LAST),
    "a held-out loss without end": ("validation_loss", slice(80, None), np.inf, "degraded", LAST),
    "late slowness": ("step_seconds", slice(-20, None), 0.25, "slow", LAST),
    "brief slowness": ("step_seconds", slice(-20, -18), 0.5, "completed", LAST),
    "a slow start": ("step_seconds", slice(0, 19), 0.5, "completed", LAST),
    # large gradients are evidence for a diagnosis, and no failure by themselves
    "large gradients": ("gradient_norm", slice(60, None), 50.0, "completed", LAST),
}


@pytest.mark.parametrize("case", SPOILT)
def test_trouble_that_lasts_is_named_and_dated(limits, case):
    column, where, value, outcome, step = SPOILT[case]
    values = columns()
    values[column][where] = value
    assert verdict(limits, values) == Detection(outcome, step)


def test_a_loss_that_climbs_within_the_range_of_the_start_has_diverged(limits):
    values = columns()
    values["loss"][60:] += 1.0
    assert values["loss"][60:].max() < limits.loss
    assert verdict(limits, values) == Detection("diverged", 60)


@pytest.mark.parametrize(("uphill", "outcome"), [(0.04, "stalled"), (0.06, "degraded")])
def test_a_plateau_that_wavers_by_less_than_the_floor_is_stalled(limits, uphill, outcome):
    values = columns()
    values["validation_loss"][:] = 5.0
    values["validation_loss"][-3 * 10 :] += uphill
    assert verdict(limits, values) == Detection(outcome, LAST)


@pytest.mark.parametrize(
    ("ending", "outcome"), [("exception", "crash"), ("signal", "killed"), ("timeout", "hung")]
)
def test_a_run_that_was_ended_failed_at_its_last_step_whatever_its_series(limits, ending, outcome):
    values = columns()
    values["loss"][60:] = np.nan
    assert verdict(limits, values, ending) == Detection(outcome, LAST)
    before_its_first = detect(ending, frame(values)[:0], limits, PARAMS)
    assert before_its_first == Detection(outcome, 0)


def test_limits_are_the_mean_plus_k_standard_deviations_of_ten_or_more_successful_runs():
    signals = healthy_signals()
    for deviations in (1.0, 3.0):
        limits = healthy_limits(signals, PARAMS.model_copy(update={"deviations": deviations}))
        losses = 6 + 0.02 * np.arange(10)  # each is highest at its first step
        assert limits.loss == pytest.approx(losses.mean() + deviations * losses.std(ddof=1))
        assert limits.slowdown == PARAMS.slow_factor  # though healthy runs never vary
    complaint = r"kind: there are 9 successful runs .* it takes 10\. Raise its successes"
    with pytest.raises(BadInputError, match=complaint):
        healthy_limits(signals[:9], PARAMS)
