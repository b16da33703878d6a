"""The command ``check``: whether scenarios, telemetry and code agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from failbench.base.detector import DetectorParams
from failbench.base.params import read_section
from failbench.base.telemetry import read_telemetry
from failbench.cli.causes import read_causes
from failbench.cli.reference import params_file
from failbench.recording.plan import RecordParams


def check_benchmark(
    *,
    scenarios: Path,
    telemetry: Path,
    faults: Sequence[str],
    params: Path | None,
    brief: bool,
) -> int:
    """Print the result of the check."""
    from failbench.recording.validity.check import check, report

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
