"""Stage check: do scenarios and telemetry keep the rules that make the benchmark valid."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from failbench.base.detector import DetectorParams
from failbench.base.records import Record, read_rows
from failbench.base.scenarios import Scenario
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


@dataclass(frozen=True)
class Second:
    """What author B recorded, and the runs of it that are said to be missing."""

    seeds: Mapping[str, int]
    telemetry: Telemetry
    scenarios: tuple[Scenario, ...]
    codes: Mapping[str, str]
    missing: frozenset[tuple[str, str, int]]

    @classmethod
    def read(cls) -> Second:
        """All of it, before anything is checked, which takes seconds."""
        recorded = read_recordings(*SECOND)
        rows = read_rows(MISSING, Missing, "Restore it with git.")
        missing = frozenset((each.setting, each.scenario, each.seed) for each in rows)
        seeds = read_section("authors", AuthorsDesign).seeds
        return cls(seeds, *recorded, read_outside_faults([FAULTS]).codes, missing)

    def checked(
        self, first: Telemetry, record: RecordParams, detector: DetectorParams
    ) -> BenchmarkCheck:
        """Check these runs, beside the successful ones of their settings.

        The rules of composition are of the benchmark alone.
        """
        for name, seeds in self.seeds.items():
            record = record.with_seeds(SETTINGS[name], seeds)
        own, setting = self.telemetry, ["architecture", "optimizer", "scale"]
        successes = first.runs.filter(kind="success").join(own.runs, on=setting, how="semi")
        healthy = first.select(pl.col("run_id").is_in(successes["run_id"].implode()))
        runs, steps = (
            pl.concat(part) for part in ((healthy.runs, own.runs), (healthy.steps, own.steps))
        )
        both = Telemetry(runs, steps)
        checked = check(self.scenarios, both, record, detector, self.codes, benchmark=False)
        settings = tuple(
            replace(
                each,
                missing=tuple(
                    unit for unit in each.missing if (each.name, *unit) not in self.missing
                ),
            )
            for each in checked.settings
        )
        return replace(checked, settings=settings)


def main() -> None:
    telemetry, scenarios = read_recordings()
    declared = (read_section("record", RecordParams), read_section("detector", DetectorParams))
    second = Second.read()
    checked, of_second = (
        check(scenarios, telemetry, *declared),
        second.checked(telemetry, *declared),
    )
    write_metrics(METRICS, {**metrics(checked), "author_b": metrics(of_second)})
    print(report(checked, brief=True))
    print(f"\nAuthor B:\n{report(of_second, brief=True)}")
    if not (checked.passed and of_second.passed):
        sys.exit("The recorded benchmark breaks a rule above; no study of it would be valid.")


if __name__ == "__main__":
    run(main)
