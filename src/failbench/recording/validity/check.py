"""Validity of the benchmark: scenarios, telemetry and rules checked against each other.

Every failing run is checked individually: whether it failed as expected, its twin completed
healthily, the two were equal before onset, and the fingerprint matches the code. The rules over the
whole benchmark are then evaluated on the recorded runs, unless they are of other causes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from failbench.base.detector import DetectorParams, HealthyLimits, detect, healthy_limits, measure
from failbench.base.scenarios import Scenario, missing_from_counts
from failbench.base.telemetry import STEP_SCHEMA, Telemetry
from failbench.base.vocabulary import Category
from failbench.recording.fingerprint import PROVENANCE, fingerprint
from failbench.recording.plan import RecordParams, Remedy, Setting
from failbench.recording.validity.pairs import differing_pairs
from failbench.recording.validity.rules import RuleResult, check_rules

_SETTING = ("architecture", "optimizer", "scale")


@dataclass(frozen=True)
class RunCheck:
    """Check of one failing run; ``expected`` are its permitted outcomes."""

    run_id: str
    scenario: str
    expected: tuple[str, ...]
    outcome: str
    outcome_reproduced: bool
    after_onset: bool
    twin_healthy: bool
    equal_before_onset: bool
    fingerprint_matches: bool

    @property
    def passed(self) -> bool:
        """Whether the run has no problems."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """Descriptions of what is wrong with it."""
        problems = []
        if self.outcome not in self.expected:
            problems.append(f"{self.outcome} where {' or '.join(self.expected)} was expected")
        if not self.outcome_reproduced:
            problems.append("the detector now says otherwise")
        if not self.after_onset:
            problems.append("it failed before its fault was switched on")
        if not self.twin_healthy:
            problems.append("its twin did not complete in health")
        if not self.equal_before_onset:
            problems.append("run and twin differ before onset")
        if not self.fingerprint_matches:
            problems.append("its fingerprint does not match the code: record it again")
        return tuple(problems)


@dataclass(frozen=True)
class MissingRun:
    """A failing run that should be there."""

    scenario: str
    seed: int


@dataclass(frozen=True)
class SettingCheck:
    """Check of the runs of one architecture, optimizer and scale.

    ``orphans`` are failing runs whose scenario no file defines.
    """

    name: str
    runs: tuple[RunCheck, ...]
    missing: tuple[MissingRun, ...]
    orphans: tuple[str, ...]
    not_applicable: dict[str, str]
    successes: int
    successes_wanted: int
    successes_flagged: int
    successes_out_of_date: int
    rules: tuple[RuleResult, ...]
    outdated_remedies: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all runs are recorded and pass, and every rule holds."""
        return (
            all(run.passed for run in self.runs)
            and not self.missing
            and not self.orphans
            and self.successes >= self.successes_wanted
            and not self.successes_out_of_date
            and not self.outdated_remedies
            and all(rule.holds for rule in self.rules)
        )


@dataclass(frozen=True)
class BenchmarkCheck:
    """Check of the whole benchmark."""

    scenarios: int
    fewer_than_paper: dict[Category, int]
    unrecorded: tuple[str, ...]
    absent: tuple[Setting, ...]
    settings: tuple[SettingCheck, ...]
    benchmark: bool = True

    @property
    def passed(self) -> bool:
        """Whether the benchmark, or the set of other causes, is valid."""
        return (
            all(count <= 0 for count in self.fewer_than_paper.values())
            and not self.unrecorded
            and not self.absent
            and all(setting.passed for setting in self.settings)
        )


def check(
    scenarios: tuple[Scenario, ...],
    telemetry: Telemetry,
    record: RecordParams,
    detector: DetectorParams,
    outside: Mapping[str, str] = MappingProxyType({}),
    *,
    benchmark: bool = True,
) -> BenchmarkCheck:
    """Check all telemetry, setting by setting."""
    checks, recorded = [], set()
    for key in telemetry.runs.select(_SETTING).unique().sort(_SETTING).rows():
        setting = Setting(*key)
        of_setting = [pl.col(name) == value for name, value in zip(_SETTING, key, strict=True)]
        part = telemetry.select(pl.all_horizontal(of_setting))
        checks.append(
            _check_setting(setting, scenarios, part, record, detector, outside, benchmark)
        )
        recorded.add(setting.name)
    absent = tuple(setting for setting in record.planned() if setting.name not in recorded)
    failing = set(telemetry.runs.filter(pl.col("kind") == "failure")["scenario"])
    unrecorded = tuple(
        scenario.id
        for scenario in scenarios
        if scenario.id not in failing
        and any(setting.architecture not in scenario.not_applicable for setting in record.planned())
    )
    return BenchmarkCheck(
        len(scenarios),
        missing_from_counts(scenarios) if benchmark else {},
        unrecorded,
        absent if benchmark else (),
        tuple(checks),
        benchmark,
    )


def _check_setting(
    setting: Setting,
    scenarios: tuple[Scenario, ...],
    telemetry: Telemetry,
    record: RecordParams,
    detector: DetectorParams,
    outside: Mapping[str, str],
    benchmark: bool,
) -> SettingCheck:
    wanted = record.wanted(setting)
    steps = telemetry.steps.partition_by("run_id", as_dict=True, include_key=False)
    empty = STEP_SCHEMA.to_frame().drop("run_id")
    rows = {row["run_id"]: row for row in telemetry.runs.to_dicts()}
    successes = [row for row in rows.values() if row["kind"] == "success"]
    healthy = [row for row in successes if row["ending"] == "completed"]
    limits = healthy_limits(
        [measure(steps[(row["run_id"],)], detector) for row in healthy], detector
    )
    twins = {row["twin_of"]: row for row in rows.values() if row["kind"] == "twin"}
    differing = differing_pairs(telemetry)
    by_id = {scenario.id: scenario for scenario in scenarios}

    def is_detected_as_recorded(row: dict[str, object], limits: HealthyLimits) -> bool:
        detection = detect(row["ending"], steps.get((row["run_id"],), empty), limits, detector)  # type: ignore[arg-type]
        return (detection.outcome, detection.failure_step) == (row["outcome"], row["failure_step"])

    def is_up_to_date(
        row: dict[str, object], scenario: Scenario | None, remedy: Remedy | None = None
    ) -> bool:
        declaration = scenario.fault if scenario is not None else None
        if declaration is not None and remedy is not None and remedy.fault is not None:
            declaration = declaration.model_copy(update={"name": remedy.fault})
        provenance = {column: row[column] for column in PROVENANCE}
        changes = None if remedy is None else remedy.model_dump(mode="json")
        expected = fingerprint(
            record.nominal,
            row["optimizer"],  # type: ignore[arg-type]
            declaration,
            provenance,
            changes,
            outside,
        )
        return expected == row["fingerprint"]

    def remedy_is_up_to_date(name: str, remedy: Remedy) -> bool:
        row = rows.get(f"{remedy.run}-{name}")
        scenario = None if row is None else by_id.get(row["scenario"])
        return row is not None and scenario is not None and is_up_to_date(row, scenario, remedy)

    checks, orphans = [], []
    for run_id, row in sorted(rows.items()):
        if row["kind"] != "failure":
            continue
        scenario = by_id.get(row["scenario"])
        if scenario is None:
            orphans.append(run_id)
            continue
        twin = twins.get(run_id)
        checks.append(
            RunCheck(
                run_id=run_id,
                scenario=scenario.id,
                expected=scenario.outcomes,
                outcome=row["outcome"],
                outcome_reproduced=is_detected_as_recorded(row, limits)
                and (twin is None or is_detected_as_recorded(twin, limits)),
                after_onset=row["failure_step"] >= row["onset_step"],
                twin_healthy=twin is not None and twin["outcome"] == "completed",
                equal_before_onset=twin is not None and run_id not in differing,
                fingerprint_matches=is_up_to_date(row, scenario)
                and (twin is None or is_up_to_date(twin, None)),
            )
        )
    architecture = setting.architecture
    recorded = {(rows[run.run_id]["scenario"], rows[run.run_id]["seed"]) for run in checks}
    missing = [
        MissingRun(scenario.id, seed)
        for scenario in scenarios
        if architecture not in scenario.not_applicable
        for seed in range(wanted.seeds)
        if (scenario.id, seed) not in recorded
    ]
    return SettingCheck(
        name=setting.name,
        runs=tuple(checks),
        missing=tuple(missing),
        orphans=tuple(orphans),
        not_applicable={
            scenario.id: scenario.not_applicable[architecture]
            for scenario in scenarios
            if architecture in scenario.not_applicable
        },
        successes=len(successes),
        successes_wanted=wanted.successes,
        successes_flagged=sum(row["outcome"] != "completed" for row in successes),
        successes_out_of_date=sum(not is_up_to_date(row, None) for row in successes),
        outdated_remedies=tuple(
            f"{remedy.run}-{name}"
            for name, remedy in record.remedies.items()
            if remedy.run in rows and not remedy_is_up_to_date(name, remedy)
        ),
        rules=check_rules(scenarios, telemetry, record, benchmark=benchmark),
    )
