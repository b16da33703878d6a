"""The command ``check``: whether scenarios, telemetry and code agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from failbench.commands.causes import read_causes
from failbench.commands.reference import params_file
from failbench.detector import DetectorParams
from failbench.params import read_section
from failbench.recording.plan import RecordParams
from failbench.telemetry import read_telemetry


def check_benchmark(
    *,
    scenarios: Path,
    telemetry: Path,
    faults: Sequence[str],
    params: Path | None,
    brief: bool,
) -> int:
    """Print the result of the check."""
    from failbench.validity.check import check
    from failbench.validity.report import report

    causes = read_causes(scenarios, faults)
    file = params_file(params)
    checked = check(
        causes.scenarios,
        read_telemetry(telemetry),
        read_section("record", RecordParams, file),
        read_section("detector", DetectorParams, file),
        causes.outside.codes,
        benchmark=causes.are_of_the_benchmark,
    )
    print(report(checked, brief=brief))
    return 0 if checked.passed else 1
