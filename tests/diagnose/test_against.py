"""A log beside that of a run that worked: what parts is said, and what does not is no fault."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.diagnose.against import ANY, apart, fitted_spreads, furthest, parts, spreads
from failbench.diagnose.curves import curves_of
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.readers.text import read_text


def log_of(losses, name="loss", every=1):
    said = (f"step={step * every} {name}={loss:.6g}" for step, loss in enumerate(losses))
    return read_text("train.log", ["\n".join(said).encode()])


def falling(count=80, seed=0, end=0.5):
    noise = np.random.default_rng(seed).normal(0, 0.05, count)
    return (end + 2.5 * np.exp(-np.arange(count) / 15)) * np.exp(noise)


def stays(count=80, at=4):
    return np.concatenate([falling(count)[:at], np.full(count - at, falling(count)[at])])


@given(seed=st.integers(1, 10_000))
def test_another_seed_does_not_part(seed):
    said = diagnosis_of(log_of(falling(seed=seed)), good=log_of(falling()))
    assert said.status == "healthy"
    assert any("none parts" in each for each in said.uncertainty)


@pytest.mark.parametrize("seed", range(5))
def test_a_loss_that_stays_where_the_good_one_falls_is_a_failure_from_there_on(seed):
    said = diagnosis_of(log_of(stays()), good=log_of(falling(seed=seed)))
    (found,) = (each for each in said.findings if each.kind == "parting")
    assert said.status in ("failed", "unknown")
    assert not said.is_odd
    assert found.relation == "above"
    assert 4 < found.step < 40
    assert found.threshold < found.value


def test_what_the_good_run_does_as_well_is_no_fault():
    """A loss that stands still alarms by itself, and beside one that does so too does not."""
    still = 2.3 + 0.001 * np.sin(np.arange(60))
    assert diagnosis_of(log_of(still)).status != "healthy"
    assert diagnosis_of(log_of(still), good=log_of(still)).status == "too_little"


def test_an_error_counts_beside_any_good_run():
    text = "\n".join(f"step={n} loss={2.0 - n / 50:.4g}" for n in range(40))
    broken = read_text("train.log", [f"{text}\nRuntimeError: CUDA out of memory.".encode()])
    assert diagnosis_of(broken, good=log_of(falling(40))).status == "failed"


def test_a_log_that_stops_is_said_to_stop():
    said = diagnosis_of(log_of(falling()[:30]), good=log_of(falling(seed=1)))
    assert [each.id for each in said.findings if each.kind == "parting"] == ["stops_early"]
    assert said.status in ("failed", "unknown")


def test_logs_without_a_common_curve_are_not_compared():
    alone = diagnosis_of(log_of(falling()))
    beside = diagnosis_of(log_of(falling()), good=read_text("good.log", [b"done\n"]))
    assert beside.status == alone.status
    assert any("no curve" in each for each in beside.uncertainty)


@pytest.mark.parametrize(("name", "every"), [("train_loss", 1), ("loss", 7)])
def test_curves_are_found_by_role_and_compared_where_steps_overlap(name, every):
    good = log_of(falling(240)[::every], name, every)
    (found,) = apart(curves_of(log_of(falling(240, seed=1))), curves_of(good))
    assert not parts(furthest([found]), spreads())
    assert found.expected[-1] == pytest.approx(falling(240)[::every][-1], rel=1e-4)


def test_what_is_no_number_is_further_apart_than_anything():
    pair = [
        *apart(curves_of(log_of([*falling()[:40], *[math.nan] * 40])), curves_of(log_of(falling())))
    ]
    assert parts(furthest(pair), dict.fromkeys(spreads(), 1e5))


def test_roles_of_few_pairs_have_the_widest_limit():
    pairs = [{"loss": 1.0, "rate": 8.0}] + [{"loss": 1.0 + at / 30} for at in range(30)]
    limits = {each.role: each.limit for each in fitted_spreads(pairs)}
    assert limits.keys() == {ANY, "loss"}
    assert limits[ANY] > 8.0
    assert not parts({"rate": 8.0, "loss": 2.0}, limits)
    assert parts({"loss": limits["loss"] + 0.01}, limits)
