"""The command ``check``: whether scenarios, telemetry and code agree."""

from __future__ import annotations

from pathlib import Path

from failbench.detector import DetectorParams
from failbench.params import PARAMS, read_section
from failbench.recording.plan import RecordParams
from failbench.scenarios import read_scenarios
from failbench.telemetry import read_telemetry


def check_benchmark(*, scenarios: Path, telemetry: Path, brief: bool) -> int:
    """Print the result of the check.

    Parameters
    ----------
    scenarios, telemetry
        Folders to check against each other.
    brief
        Whether runs that pass are left out.

    Returns
    -------
    int
        Exit status: 0 if the check passes, else 1.

    Raises
    ------
    BadInputError
        If a file, or a section of params.yaml, cannot be read.
    """
    from failbench.validity.check import check
    from failbench.validity.report import report

    checked = check(
        read_scenarios(scenarios),
        read_telemetry(telemetry),
        read_section("record", RecordParams, PARAMS),
        read_section("detector", DetectorParams, PARAMS),
    )
    print(report(checked, brief=brief))
    return 0 if checked.passed else 1
