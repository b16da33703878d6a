"""What scripts that read recorded runs share: telemetry and scenarios that belong together."""

from __future__ import annotations

from pathlib import Path

from failbench.errors import BadInputError
from failbench.scenarios import Scenario, read_scenarios
from failbench.telemetry import Telemetry, read_telemetry

__all__ = ["read_recordings"]


def read_recordings(telemetry: Path, scenarios: Path) -> tuple[Telemetry, tuple[Scenario, ...]]:
    """Read recorded runs and the scenarios that they are runs of.

    Raises
    ------
    BadInputError
        If a file is missing or broken, or no file defines the scenario of a run.
    """
    recorded, defined = read_telemetry(telemetry), read_scenarios(scenarios)
    undefined = set(recorded.runs["scenario"].drop_nulls()) - {scenario.id for scenario in defined}
    if undefined:
        first = min(undefined)
        raise BadInputError(
            scenarios,
            first,
            f"no file defines this scenario, which runs of {telemetry} have.",
            f"Restore {first}.json with git.",
        )
    return recorded, defined
