"""Failure: all that is shown of one scenario beside its curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from failbench.base.scenarios import Scenario
from failbench.monitor.records.versions import Rules
from failbench.publish.page.answers import Answers
from failbench.publish.page.failures import error_text, with_setting
from failbench.publish.page.sentences import broken_sentences, decided_sentence


@dataclass(frozen=True)
class Monitored:
    """What the monitor saw of runs by the last version of its rules."""

    rules: Rules
    breaks: pl.DataFrame
    verdicts: pl.DataFrame
    ends: pl.DataFrame


@dataclass(frozen=True)
class LookAlikes:
    """Scenarios that are taken for one another."""

    difficulty: pl.DataFrame
    neighbours: pl.DataFrame
    partners: pl.DataFrame


def details(
    scenarios: Sequence[Scenario],
    runs: pl.DataFrame,
    answers: Mapping[str, Mapping[str, Answers]],
    explanations: Mapping[str, Mapping[str, Mapping[str, object]]],
    logs: Mapping[str, Sequence[Mapping[str, object]]],
    monitored: Monitored,
    alike: LookAlikes,
    *,
    reference: str,
    seed: int,
) -> dict[str, object]:
    """What the view of one failure reads, by scenario."""
    recorded = with_setting(runs).sort("setting", "seed").partition_by("scenario", as_dict=True)
    return {
        scenario.id: {
            "rationale": scenario.rationale,
            "symptom": scenario.symptom_category,
            "fault": {
                "name": scenario.fault.name,
                "onset": scenario.fault.onset,
                "parameters": scenario.fault.parameters,
            },
            "expected": scenario.expected_outcome,
            "others": dict(scenario.other_outcomes),
            "ambiguity": scenario.ambiguity,
            "not_applicable": dict(scenario.not_applicable),
            "answers": [
                _answer(method, given, explanations.get(scenario.id, {}))
                for method, given in answers[scenario.id].items()
            ],
            "logs": list(logs.get(scenario.id, ())),
            "monitor": _monitor(f"{scenario.id}-{reference}-s{seed}", monitored),
            "alike": _alike(scenario.id, alike),
            "runs": _runs(recorded[(scenario.id,)]),
            "errors": _errors(recorded[(scenario.id,)], seed),
        }
        for scenario in scenarios
    }


def _answer(
    method: str, given: Answers, explained: Mapping[str, Mapping[str, object]]
) -> dict[str, object]:
    return {
        "method": method,
        "counts": given.counts,
        "seeds": given.right_by_seed,
        "verdict": given.verdict,
        **({"explained": explained[method]} if method in explained else {}),
    }


def _monitor(run_id: str, monitored: Monitored) -> dict[str, object] | None:
    verdict = monitored.verdicts.filter(pl.col("run_id") == run_id)
    if verdict.is_empty():
        return None
    end = monitored.ends.filter(pl.col("run_id") == run_id).row(0, named=True)
    decided = verdict.row(0, named=True)
    broken = monitored.breaks.filter(pl.col("run_id") == run_id).sort("step", "invariant")
    return {
        "run": run_id,
        "answer": decided["answer"],
        "evidence": decided_sentence(decided, end, broken, monitored.rules),
        "failure": end["failure_step"],
        "broken": broken_sentences(broken, decided["decided_by"], monitored.rules),
    }


def _alike(scenario: str, alike: LookAlikes) -> dict[str, object]:
    row = alike.difficulty.filter(pl.col("scenario") == scenario).row(0, named=True)
    near = alike.neighbours.filter(pl.col("scenario") == scenario).sort("rank")
    return {
        "ease": round(row["ease"], 4),
        "runs": row["runs"],
        "instead": row["instead"],
        "instead_share": round(row["instead_share"], 4),
        "nearest": row["nearest"],
        "neighbours_right": round(row["neighbours_own"], 4),
        "neighbours": near["neighbour"].to_list(),
        "partners": alike.partners.filter(pl.col("scenario") == scenario)["partner"]
        .sort()
        .to_list(),
    }


def _runs(recorded: pl.DataFrame) -> dict[str, list[list[object]]]:
    """By setting, of each seed: the seed, the outcome, and the steps of fault and failure."""
    runs: dict[str, list[list[object]]] = {}
    for run in recorded.iter_rows(named=True):
        facts = [run[name] for name in ("seed", "outcome", "onset_step", "failure_step")]
        runs.setdefault(run["setting"], []).append(facts)
    return runs


def _errors(recorded: pl.DataFrame, seed: int) -> list[dict[str, object]]:
    """Whole error texts of the runs that are drawn, each once, with the settings that have it."""
    texts: dict[str, list[str]] = {}
    for run in recorded.filter(pl.col("seed") == seed).iter_rows(named=True):
        text = error_text(run)
        if text is not None:
            texts.setdefault(text, []).append(run["setting"])
    return [{"text": text, "settings": settings} for text, settings in texts.items()]
