"""Validity report: what the check found, as text and as counts."""

from __future__ import annotations

from collections import Counter, defaultdict

from failbench.validity.check import Checked


def report(checked: Checked, brief: bool) -> str:
    """The check as text: a line a run, then the rules, then the verdict."""
    lines = [f"{checked.scenarios} scenarios"]
    lines += [
        f"  {category}: {count} too few"
        if count > 0
        else f"  {category}: {-count} more than the paper has"
        for category, count in checked.fewer_than_paper.items()
    ]
    lines += [
        f"  missing: {scenario}, of which nothing is recorded: run `failbench record "
        f"--only {scenario}`"
        for scenario in checked.unrecorded
    ]
    lines += [
        f"  missing: {setting.name}, of which nothing is recorded: run `failbench record "
        f"--architecture {setting.architecture} --optimizer {setting.optimizer} "
        f"--scale {setting.scale}`"
        for setting in checked.absent
    ]
    for setting in checked.settings:
        lines += ["", setting.name]
        for run in setting.runs:
            if run.passed and brief:
                continue
            state = "ok" if run.passed else "FAILED: " + "; ".join(run.faults)
            lines.append(f"  {run.run_id:<58} {run.outcome:<9} {state}")
        lines += [
            f"  missing: {run.scenario}, seed {run.seed}"
            for run in setting.missing
            if run.scenario not in checked.unrecorded
        ]
        lines += [f"  missing: {run_id} has no scenario file" for run_id in setting.strangers]
        lines += [
            f"  missing or out of date: {run_id}, a run with a remedy"
            for run_id in setting.remedies_wanting
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
    lines += ["", "The check passes." if checked.passed else "The check FAILS."]
    return "\n".join(lines)


def metrics(checked: Checked) -> dict[str, object]:
    """Counts for the metrics file, by setting."""
    found: dict[str, object] = {}
    for setting in checked.settings:
        outcomes = Counter(run.outcome for run in setting.runs)
        causes: dict[str, int] = defaultdict(int)
        for run in setting.runs:
            causes["as_expected"] += run.outcome == run.expected[0]
            causes["other_outcome"] += run.outcome in run.expected[1:]
            causes["twins_healthy"] += run.twin_healthy
            causes["equal_before_onset"] += run.equal_before_onset
            causes["fingerprints_match"] += run.fingerprint_matches
        found[setting.name] = {
            "failing_runs": len(setting.runs),
            "passed": sum(run.passed for run in setting.runs),
            "missing": len(setting.missing) + len(setting.strangers),
            "not_applicable": len(setting.not_applicable),
            "successes": setting.successes,
            "successes_outside_band": setting.successes_flagged,
            "outcomes": dict(sorted(outcomes.items())),
            **dict(causes),
            "rules": {rule.name: {"holds": rule.holds, **rule.counts} for rule in setting.rules},
        }
    return found
