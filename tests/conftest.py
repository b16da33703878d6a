"""Fixtures that tests of several packages share."""

import os
from pathlib import Path

import matplotlib as mpl
import pytest
from hypothesis import settings

from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.monitor.budget import OFF
from made_up_scenarios import made_up_scenario
from made_up_telemetry import telemetry_of

pytest_plugins = ["opened_page", "prediction_fixtures"]

# Two slow cores must not turn a passing property into a failing one.
settings.register_profile("failbench", deadline=None)
settings.load_profile("failbench")

# What a budget leaves out hangs on how fast the machine is, and what is tested here does not.
os.environ.setdefault(OFF, "off")


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def style_restored():
    """A test that publishes sets the project's style: the next test does not inherit it."""
    with mpl.rc_context():
        yield


@pytest.fixture
def project_style(repository: Path):
    """The project's matplotlibrc, for the duration of a test."""
    with mpl.rc_context(fname=repository / "figures" / "matplotlibrc"):
        yield


def _run(run_id: str, **values: object) -> dict[str, object]:
    usual: dict[str, object] = {"kind": "failure", "architecture": "transformer", "seed": 0}
    usual |= {"optimizer": "adamw", "scale": "small", "device": "cpu", "capacity_bytes": 200}
    usual |= {"ending": "completed", "outcome": "completed", "failure_step": 9, "steps": 10}
    return {"run_id": run_id} | usual | values


def _steps(run_id: str, losses: list[float | None]) -> list[dict[str, object]]:
    usual: dict[str, object] = {"run_id": run_id, "gradient_norm": 1.5, "learning_rate": 0.001}
    usual |= {"step_seconds": 0.5, "tokens": 50}
    return [
        usual
        | {"step": step, "loss": loss, "memory_bytes": 100 + step}
        | {"validation_loss": 2.0 if step % 5 == 0 else None}
        for step, loss in enumerate(losses)
    ]


@pytest.fixture
def small_telemetry() -> Telemetry:
    """Three failing runs with twins: a divergence, a crash at the start, and a crash mid-run."""
    healthy: list[float | None] = [6.0 - 0.1 * step for step in range(10)]
    runs, steps = [], []
    runaway = [*healthy[:5], 9.0, 40.0, float("inf"), float("nan"), float("nan")]
    for scenario, losses, onset, failure, outcome in [
        ("runaway", runaway, 5, 6, "diverged"),
        ("no_start", [], 0, 0, "crash"),
        ("late_crash", [*healthy[:7], None], 4, 7, "crash"),
    ]:
        run_id = f"{scenario}-transformer-adamw-s0"
        keys = {"scenario": scenario, "onset_step": onset}
        runs += [
            _run(run_id, **keys, failure_step=failure, outcome=outcome, steps=len(losses)),
            _run(f"{run_id}-twin", kind="twin", scenario=scenario, twin_of=run_id),
        ]
        steps += _steps(run_id, losses) + _steps(f"{run_id}-twin", healthy)
    return telemetry_of(runs, steps)


@pytest.fixture
def small_scenarios() -> tuple[Scenario, ...]:
    """The scenarios of ``small_telemetry``, one category each."""
    return tuple(
        made_up_scenario(
            name, category, fault={"name": name, "onset": onset}, expected_outcome=outcome
        )
        for name, category, onset, outcome in [
            ("late_crash", "memory_hardware", "mid_run", "crash"),
            ("runaway", "optimization", "mid_run", "diverged"),
            ("no_start", "model_software", "start_crash", "crash"),
        ]
    )
