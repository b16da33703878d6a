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
    """Print the result of the check.

    Parameters
    ----------
    scenarios, telemetry
        Folders to check against each other. Scenarios other than the benchmark's need neither its
        counts nor its settings.
    faults
        Modules with the faults that are not part of the package: files, or importable names.
    params
        File with the sections ``record`` and ``detector``; None takes params.yaml of the working
        directory, or of the reference.
    brief
        Whether runs that pass are left out.

    Returns
    -------
    int
        Exit status: 0 if the check passes, else 1.

    Raises
    ------
    BadInputError
        If a file, or a section of params.yaml, cannot be read, or a scenario does not fit its
        fault.
    """
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
