"""What scripts that read recorded runs share: telemetry and scenarios that belong together."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario, read_scenarios
from failbench.base.telemetry import Telemetry, read_telemetry

TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")


def read_recordings(
    telemetry: Path = TELEMETRY, scenarios: Path = SCENARIOS
) -> tuple[Telemetry, tuple[Scenario, ...]]:
    """Read recorded runs and the scenarios that they are runs of; an undefined one is refused."""
    recorded = read_telemetry(telemetry)
    return recorded, read_scenarios_of(recorded.runs, scenarios)


def read_scenarios_of(runs: pl.DataFrame, scenarios: Path = SCENARIOS) -> tuple[Scenario, ...]:
    """Read all scenarios, among which must be those in the column ``scenario`` of a table."""
    defined = read_scenarios(scenarios)
    undefined = set(runs["scenario"].drop_nulls()) - {scenario.id for scenario in defined}
    if undefined:
        first = min(undefined)
        raise BadInputError(
            scenarios,
            first,
            "no file defines this scenario, which recorded runs have.",
            f"Restore {first}.json with git.",
        )
    return defined
