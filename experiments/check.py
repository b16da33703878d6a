"""Stage check: do scenarios and telemetry keep the rules that make the benchmark valid."""

import sys
from dataclasses import replace
from pathlib import Path

import polars as pl

from failbench.base.detector import DetectorParams
from failbench.base.records import Record, read_rows
from failbench.base.stage import read_section, run, write_metrics
from failbench.base.telemetry import Telemetry
from failbench.recording.fault_modules import read_outside_faults
from failbench.recording.plan import SETTINGS, RecordParams
from failbench.recording.validity.check import BenchmarkCheck, check, metrics, report
from recordings import read_recordings
from shared.authors import AuthorsDesign

METRICS = Path("data/metrics/check.json")
SECOND = (Path("data/author_b/telemetry"), Path("data/author_b/scenarios"))
FAULTS = "data/author_b/faults.py"
MISSING = Path("data/author_b/missing.csv")


class Missing(Record):
    """A run of author B's that did not fail, and so is left out: a row of ``missing.csv``."""

    setting: str
    scenario: str
    seed: int


def of_author_b(first: Telemetry, record: RecordParams, detector: DetectorParams) -> BenchmarkCheck:
    """Check another author's runs, beside the successful ones of their settings.

    The rules of composition are of the benchmark alone. Runs that are said to be missing may be.
    """
    for name, seeds in read_section("authors", AuthorsDesign).seeds.items():
        record = record.with_seeds(SETTINGS[name], seeds)
    second, scenarios = read_recordings(*SECOND)
    setting = ["architecture", "optimizer", "scale"]
    successes = first.runs.filter(kind="success").join(second.runs, on=setting, how="semi")
    healthy = first.select(pl.col("run_id").is_in(successes["run_id"].implode()))
    runs, steps = (
        pl.concat(part) for part in ((healthy.runs, second.runs), (healthy.steps, second.steps))
    )
    codes = read_outside_faults([FAULTS]).codes
    both = Telemetry(runs, steps)
    checked = check(scenarios, both, record, detector, codes, benchmark=False)
    said = {
        (each.setting, each.scenario, each.seed)
        for each in read_rows(MISSING, Missing, "Restore it with git.")
    }
    settings = tuple(
        replace(
            each, missing=tuple(unit for unit in each.missing if (each.name, *unit) not in said)
        )
        for each in checked.settings
    )
    return replace(checked, settings=settings)


def main() -> None:
    telemetry, scenarios = read_recordings()
    declared = (read_section("record", RecordParams), read_section("detector", DetectorParams))
    checked = check(scenarios, telemetry, *declared)
    second = of_author_b(telemetry, *declared)
    write_metrics(METRICS, {**metrics(checked), "author_b": metrics(second)})
    print(report(checked, brief=True))
    print(f"\nAuthor B:\n{report(second, brief=True)}")
    if not (checked.passed and second.passed):
        sys.exit("The recorded benchmark breaks a rule above; no study of it would be valid.")


if __name__ == "__main__":
    run(main)
