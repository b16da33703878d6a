"""Telemetry and scenarios are read together, and belong together."""

from __future__ import annotations

import shutil

import pytest

from failbench.errors import BadInputError
from recordings import read_recordings


def test_a_run_without_its_scenario_is_refused(repository, tmp_path):
    scenarios = tmp_path / "scenarios"
    shutil.copytree(repository / "data/scenarios", scenarios)
    telemetry = repository / "data/telemetry"
    recorded, defined = read_recordings(telemetry, scenarios)
    assert set(recorded.runs["scenario"].drop_nulls()) == {scenario.id for scenario in defined}
    (scenarios / "data_pipeline/upper_case.json").unlink()
    with pytest.raises(BadInputError, match="upper_case: no file defines this scenario"):
        read_recordings(telemetry, scenarios)
