"""Validity of the benchmark: each failing run by itself, then the rules over the whole of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

import polars as pl

from failbench.base.detector import DetectorParams, detect, healthy_limits, measure
from failbench.base.scenarios import Scenario, missing_from_counts
from failbench.base.telemetry import NOISY_STEP_COLUMNS, STEP_SCHEMA, Kind, Telemetry
from failbench.base.vocabulary import Category
from failbench.recording.fingerprint import PROVENANCE, fingerprint
from failbench.recording.plan import RecordParams, Remedy, Setting, fault_of
from failbench.recording.validity.rules import RuleResult, check_rules

_SETTING = ("architecture", "optimizer", "scale")

GPU_RELATIVE_TOLERANCE = 1e-3  # there the order of summation may vary; else bit for bit
Row: TypeAlias = dict[str, Any]  # a run, by column


@dataclass(frozen=True)
class RunCheck:
    """Check of one failing run; ``expected`` are its permitted outcomes."""

    run_id: str
    scenario: str
    seed: int
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
        expected = f"{self.outcome} where {' or '.join(self.expected)} was expected"
        claims = {
            expected: self.outcome in self.expected,
            "the detector now says otherwise": self.outcome_reproduced,
            "it failed before its fault was switched on": self.after_onset,
            "its twin did not complete in health": self.twin_healthy,
            "run and twin differ before onset": self.equal_before_onset,
            "its fingerprint does not match the code: record it again": self.fingerprint_matches,
        }
        return tuple(problem for problem, holds in claims.items() if not holds)


@dataclass(frozen=True)
class SettingCheck:
    """Check of one setting; ``orphans`` are failing runs whose scenario no file defines."""

    name: str
    runs: tuple[RunCheck, ...]
    missing: tuple[tuple[str, int], ...]
    orphans: tuple[str, ...]
    not_applicable: dict[str, str]
    successes: int
    successes_wanted: int
    successes_flagged: int
    successes_out_of_date: int
    outdated_remedies: tuple[str, ...]
    rules: tuple[RuleResult, ...]

    @property
    def passed(self) -> bool:
        """Whether all runs are recorded and pass, and every rule holds."""
        return (
            all(run.passed for run in self.runs)
            and not (self.missing or self.orphans or self.outdated_remedies)
            and self.successes >= self.successes_wanted
            and not self.successes_out_of_date
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
            and not (self.unrecorded or self.absent)
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
    checks = []
    for key in telemetry.runs.select(_SETTING).unique().sort(_SETTING).rows():
        of_setting = [pl.col(name) == value for name, value in zip(_SETTING, key, strict=True)]
        part = telemetry.select(pl.all_horizontal(of_setting))
        recorded = _Recorded(Setting(*key), part, record, detector, outside)
        checks.append(recorded.check(scenarios, benchmark=benchmark))
    known = {each.name for each in checks}
    failing = set(telemetry.runs.filter(kind="failure")["scenario"])
    planned = {setting.architecture for setting in record.planned()}
    unrecorded = tuple(
        scenario.id
        for scenario in scenarios
        if scenario.id not in failing and planned - scenario.not_applicable.keys()
    )
    absent = tuple(setting for setting in record.planned() if setting.name not in known)
    fewer, absent = (missing_from_counts(scenarios), absent) if benchmark else ({}, ())
    return BenchmarkCheck(len(scenarios), fewer, unrecorded, absent, tuple(checks), benchmark)


class _Recorded:
    """What is recorded of a setting, and what today's code says of it."""

    def __init__(
        self,
        setting: Setting,
        telemetry: Telemetry,
        record: RecordParams,
        detector: DetectorParams,
        outside: Mapping[str, str],
    ) -> None:
        self.setting, self.telemetry, self.record = setting, telemetry, record
        self.detector, self.outside = detector, outside
        self.rows = {row["run_id"]: row for row in telemetry.runs.to_dicts()}
        self.steps = telemetry.steps.partition_by("run_id", as_dict=True, include_key=False)
        healthy = [row for row in self.of_kind("success") if row["ending"] == "completed"]
        signals = [measure(self.steps[row["run_id"],], detector) for row in healthy]
        self.limits = healthy_limits(signals, detector)

    def of_kind(self, kind: Kind) -> list[Row]:
        return [row for row in self.rows.values() if row["kind"] == kind]

    def is_reproduced(self, row: Row) -> bool:
        steps = self.steps.get((row["run_id"],), STEP_SCHEMA.to_frame().drop("run_id"))
        detection = detect(row["ending"], steps, self.limits, self.detector)
        return (detection.outcome, detection.failure_step) == (row["outcome"], row["failure_step"])

    def is_up_to_date(
        self, row: Row, scenario: Scenario | None = None, remedy: Remedy | None = None
    ) -> bool:
        """Whether a run has the fingerprint of today; a healthy one has no scenario."""
        declaration = None if scenario is None else fault_of(scenario, remedy)
        provenance = {column: row[column] for column in PROVENANCE}
        changes = None if remedy is None else remedy.model_dump(mode="json")
        expected = fingerprint(
            self.record.nominal, row["optimizer"], declaration, provenance, changes, self.outside
        )
        return bool(expected == row["fingerprint"])

    def check(self, scenarios: tuple[Scenario, ...], *, benchmark: bool) -> SettingCheck:
        wanted, architecture = self.record.wanted(self.setting), self.setting.architecture
        by_id = {scenario.id: scenario for scenario in scenarios}
        failures, successes = self.of_kind("failure"), self.of_kind("success")
        runs = tuple(self._runs(failures, by_id))
        excused = {each.id: each.not_applicable.get(architecture) for each in scenarios}
        applicable = [name for name, reason in excused.items() if reason is None]
        recorded = {(run.scenario, run.seed) for run in runs}
        return SettingCheck(
            name=self.setting.name,
            runs=runs,
            missing=tuple(
                unit for unit in product(applicable, range(wanted.seeds)) if unit not in recorded
            ),
            orphans=tuple(row["run_id"] for row in failures if row["scenario"] not in by_id),
            not_applicable={name: reason for name, reason in excused.items() if reason is not None},
            successes=len(successes),
            successes_wanted=wanted.successes,
            successes_flagged=sum(row["outcome"] != "completed" for row in successes),
            successes_out_of_date=sum(not self.is_up_to_date(row) for row in successes),
            outdated_remedies=tuple(self._outdated_remedies(by_id)),
            rules=check_rules(scenarios, self.telemetry, self.record, benchmark=benchmark),
        )

    def _runs(self, failures: list[Row], by_id: Mapping[str, Scenario]) -> Iterator[RunCheck]:
        twins = {row["twin_of"]: row for row in self.of_kind("twin")}
        differing = differing_pairs(self.telemetry)
        for row in failures:
            scenario, twin = by_id.get(row["scenario"]), twins.get(row["run_id"])
            if scenario is None:
                continue
            yield RunCheck(
                run_id=row["run_id"],
                scenario=scenario.id,
                seed=row["seed"],
                expected=scenario.outcomes,
                outcome=row["outcome"],
                outcome_reproduced=self.is_reproduced(row)
                and (twin is None or self.is_reproduced(twin)),
                after_onset=row["failure_step"] >= row["onset_step"],
                twin_healthy=twin is not None and twin["outcome"] == "completed",
                equal_before_onset=twin is not None and row["run_id"] not in differing,
                fingerprint_matches=self.is_up_to_date(row, scenario)
                and (twin is None or self.is_up_to_date(twin)),
            )

    def _outdated_remedies(self, by_id: Mapping[str, Scenario]) -> Iterator[str]:
        for name, remedy in self.record.remedies.items():
            row = self.rows.get(f"{remedy.run}-{name}")
            scenario = by_id.get(row["scenario"]) if row else None
            is_current = row and scenario and self.is_up_to_date(row, scenario, remedy)
            if remedy.run in self.rows and not is_current:
                yield f"{remedy.run}-{name}"


def differing_pairs(telemetry: Telemetry) -> set[str]:
    """Failing runs that differ from their twin, or outlive it, before onset."""
    # On a GPU values may differ by :data:`GPU_RELATIVE_TOLERANCE`.
    runs = telemetry.runs
    failing = runs.filter(kind="failure").select("run_id", "onset_step", "device")
    twins = runs.filter(kind="twin").select("run_id", "twin_of")
    columns = [name for name in STEP_SCHEMA if name not in NOISY_STEP_COLUMNS]
    steps = telemetry.steps.select(columns)
    before = steps.join(failing, on="run_id").filter(pl.col("step") < pl.col("onset_step"))
    twin_steps = steps.join(twins, on="run_id").drop("run_id").rename({"twin_of": "run_id"})
    compared = [name for name in columns if name not in ("run_id", "step")]
    joined = before.join(twin_steps, on=["run_id", "step"], how="left", suffix="_twin")
    unequal = [
        pl.when(pl.col("device") == "cpu")
        .then(pl.col(name).ne_missing(pl.col(f"{name}_twin")))
        .otherwise(_beyond_tolerance(pl.col(name), pl.col(f"{name}_twin")))
        for name in compared
    ]
    different = joined.filter(pl.any_horizontal(unequal))["run_id"]
    short = (
        failing.filter(pl.col("onset_step") > 0)
        .join(before.group_by("run_id").len(), on="run_id", how="left")
        .filter(pl.col("len").fill_null(0) != pl.col("onset_step"))["run_id"]
    )
    return set(different) | set(short)


def _beyond_tolerance(value: pl.Expr, twin: pl.Expr) -> pl.Expr:
    apart = (value - twin).abs() > GPU_RELATIVE_TOLERANCE * twin.abs()
    return apart.fill_null(False) | (value.is_null() != twin.is_null())


def report(check: BenchmarkCheck, brief: bool) -> str:
    """The check as text: one line per run, then the rules, then the result."""
    lines = [f"{check.scenarios} scenario{'' if check.scenarios == 1 else 's'}"]
    for category, count in check.fewer_than_paper.items():
        said = f"{count} too few" if count > 0 else f"{-count} more than the paper has"
        lines.append(f"  {category}: {said}")
    lines += [
        f"  missing: {scenario}, of which nothing is recorded: "
        + (f"run `failbench record --only {scenario}`" if check.benchmark else "record it")
        for scenario in check.unrecorded
    ]
    lines += [
        f"  missing: {setting.name}, of which nothing is recorded: run `failbench record "
        f"--architecture {setting.architecture} --optimizer {setting.optimizer} "
        f"--scale {setting.scale}`"
        for setting in check.absent
    ]
    for setting in check.settings:
        lines += ["", setting.name]
        for run in setting.runs:
            if run.passed and brief:
                continue
            state = "ok" if run.passed else "FAILED: " + "; ".join(run.problems)
            lines.append(f"  {run.run_id:<58} {run.outcome:<9} {state}")
        lines += [
            f"  missing: {scenario}, seed {seed}"
            for scenario, seed in setting.missing
            if scenario not in check.unrecorded
        ]
        lines += [f"  missing: {run_id} has no scenario file" for run_id in setting.orphans]
        lines += [
            f"  missing or out of date: {run_id}, a run with a remedy"
            for run_id in setting.outdated_remedies
        ]
        lines += [
            f"  not applicable: {scenario}: {reason}"
            for scenario, reason in setting.not_applicable.items()
        ]
        passed = sum(run.passed for run in setting.runs)
        lines.append(f"  {passed} of {len(setting.runs)} failing runs pass with their twins")
        lines.append(
            f"  {setting.successes} successful runs of {setting.successes_wanted}, of which "
            f"{setting.successes_flagged} leave the healthy band made of all of them and "
            f"{setting.successes_out_of_date} are out of date"
        )
        for rule in setting.rules:
            lines.append(f"  {'ok' if rule.holds else 'FAILED'}: {rule.sentence}")
            lines += [f"      {detail}" for detail in rule.details]
    lines += ["", "The check passes." if check.passed else "The check FAILS."]
    return "\n".join(lines)


def metrics(check: BenchmarkCheck) -> dict[str, object]:
    """Counts for the metrics file, by setting."""
    by_setting: dict[str, object] = {}
    for setting in check.settings:
        runs = setting.runs
        by_setting[setting.name] = {
            "failing_runs": len(runs),
            "passed": sum(run.passed for run in runs),
            "missing": len(setting.missing) + len(setting.orphans),
            "not_applicable": len(setting.not_applicable),
            "successes": setting.successes,
            "successes_outside_band": setting.successes_flagged,
            "outcomes": dict(sorted(Counter(run.outcome for run in runs).items())),
            "as_expected": sum(run.outcome == run.expected[0] for run in runs),
            "other_outcome": sum(run.outcome in run.expected[1:] for run in runs),
            "twins_healthy": sum(run.twin_healthy for run in runs),
            "equal_before_onset": sum(run.equal_before_onset for run in runs),
            "fingerprints_match": sum(run.fingerprint_matches for run in runs),
            "rules": {rule.name: {"holds": rule.holds, **rule.counts} for rule in setting.rules},
        }
    return by_setting
