"""Validity report: the check as text and as counts."""

from __future__ import annotations

from collections import Counter

from failbench.recording.validity.check import BenchmarkCheck


def report(check: BenchmarkCheck, brief: bool) -> str:
    """The check as text: one line per run, then the rules, then the result."""
    lines = [f"{check.scenarios} scenario{'' if check.scenarios == 1 else 's'}"]
    lines += [
        f"  {category}: {count} too few"
        if count > 0
        else f"  {category}: {-count} more than the paper has"
        for category, count in check.fewer_than_paper.items()
    ]
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
