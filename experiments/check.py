"""Stage check: do scenarios and telemetry keep the rules that make the benchmark valid."""

import sys
from pathlib import Path

from failbench.base.detector import DetectorParams
from failbench.base.stage import read_section, run, write_metrics
from failbench.recording.plan import RecordParams
from failbench.recording.validity.check import check, metrics, report
from recordings import read_recordings

METRICS = Path("data/metrics/check.json")


def main() -> None:
    telemetry, scenarios = read_recordings()
    checked = check(
        scenarios,
        telemetry,
        read_section("record", RecordParams),
        read_section("detector", DetectorParams),
    )
    write_metrics(METRICS, metrics(checked))
    print(report(checked, brief=True))
    if not checked.passed:
        sys.exit("The recorded benchmark breaks a rule above; no study of it would be valid.")


if __name__ == "__main__":
    run(main)
