"""Failure: all that is shown of one scenario beside its curves, evidence as sentences."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.verdicts import Evidence, evidence_of
from failbench.monitor.records.versions import Rules
from failbench.neighbours.rendering.run import COMPLETE
from failbench.publish.page.failures import with_setting
from failbench.publish.page.methods import Answers
from failbench.publish.symptoms import error_text
from failbench.study.cells import words

Plain = dict[str, object]

NOTHING_BROKE: Final = "No condition of healthy training was seen to be violated."

FAULT: Final = ("name", "onset", "parameters")

IS_COMPLETE: Final = pl.col("format") == COMPLETE

KINDS: Final = (  # what the reader calls a kind of log, and which answers are to it
    ("any log", (pl.col("model") == "log") & ~IS_COMPLETE),
    ("complete log", (pl.col("model") == "log") & IS_COMPLETE),
    ("log of the monitor, bounds of others", pl.col("model") == "monitor"),
    ("log of the monitor, own bounds", pl.col("model") == "monitor_bounds"),
)

_ANSWERED = ("category", "prediction", "predicted_cause", "cause")
LOG_SCHEMA: Final = pl.Schema(  # what is read of the answers to logs
    dict.fromkeys(("model", "format", "kind", "setting", "scenario", *_ANSWERED), pl.String)
)


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
    explanations: Mapping[str, Mapping[str, Plain]],
    logs: Mapping[str, Sequence[Plain]],
    monitored: Monitored,
    alike: LookAlikes,
    *,
    reference: str,
    seed: int,
) -> dict[str, Plain]:
    """What the view of one failure reads, by scenario."""
    recorded = with_setting(runs).sort("setting", "seed").partition_by("scenario", as_dict=True)
    return {
        scenario.id: {
            "rationale": scenario.rationale,
            "symptom": scenario.symptom_category,
            "fault": {name: getattr(scenario.fault, name) for name in FAULT},
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
            **_runs(recorded[(scenario.id,)], seed),
        }
        for scenario in scenarios
    }


def _answer(method: str, given: Answers, explained: Mapping[str, Plain]) -> Plain:
    return {
        "method": method,
        "counts": given.counts,
        "seeds": given.right_by_seed,
        "verdict": given.verdict,
        **({"explained": explained[method]} if method in explained else {}),
    }


def _monitor(run_id: str, monitored: Monitored) -> Plain | None:
    verdict = monitored.verdicts.filter(run_id=run_id)
    if verdict.is_empty():
        return None
    end = monitored.ends.filter(run_id=run_id).row(0, named=True)
    decided = verdict.row(0, named=True)
    broken = monitored.breaks.filter(run_id=run_id).sort("step", "invariant")
    return {
        "run": run_id,
        "answer": decided["answer"],
        "evidence": decided_sentence(decided, end, broken, monitored.rules),
        "failure": end["failure_step"],
        "broken": broken_sentences(broken, decided["decided_by"], monitored.rules),
    }


def _alike(scenario: str, alike: LookAlikes) -> Plain:
    row = alike.difficulty.filter(scenario=scenario).row(0, named=True)
    neighbours = alike.neighbours.filter(scenario=scenario)
    return {
        "ease": round(row["ease"], 4),
        "runs": row["runs"],
        "instead": row["instead"],
        "instead_share": round(row["instead_share"], 4),
        "nearest": row["nearest"],
        "neighbours_right": round(row["neighbours_own"], 4),
        "neighbours": neighbours.sort("rank")["neighbour"].to_list(),
        "partners": alike.partners.filter(scenario=scenario)["partner"].sort().to_list(),
    }


def _runs(recorded: pl.DataFrame, seed: int) -> Plain:
    """By setting, of each seed: the seed, the outcome, and the steps of fault and failure."""
    runs: dict[str, list[list[object]]] = {}
    texts: dict[str, list[str]] = {}
    for run in recorded.iter_rows(named=True):
        facts = [run[name] for name in ("seed", "outcome", "onset_step", "failure_step")]
        runs.setdefault(run["setting"], []).append(facts)
        text = error_text(run)
        if run["seed"] == seed and text is not None:
            texts.setdefault(text, []).append(run["setting"])
    errors = [{"text": text, "settings": settings} for text, settings in texts.items()]
    return {"runs": runs, "errors": errors}


def explanations(answers: pl.DataFrame, conditions: pl.DataFrame) -> dict[str, dict[str, Plain]]:
    """By scenario and method, what one fit answers to a run and why."""
    sentences: dict[tuple[str, str], list[str]] = {}
    for row in conditions.sort("run_id", "method", "position").iter_rows(named=True):
        kept = sentences.setdefault((row["run_id"], row["method"]), [])
        kept.append(evidence_sentence(evidence_of(row)))
    explained: dict[str, dict[str, Plain]] = {}
    for row in answers.sort("run_id", "method").iter_rows(named=True):
        evidence = sentences.get((row["run_id"], row["method"]), [])
        explained.setdefault(row["scenario"], {})[row["method"]] = {
            "answer": row["prediction"],
            "confidence": round(row["confidence"], 3),
            "evidence": evidence,
            "left_out": row["evidence"] - len(evidence),
        }
    return explained


def answers_to_logs(answers: pl.DataFrame, setting: str) -> dict[str, list[Plain]]:
    """By scenario, a row per kind of log: the most frequent answer, and how often it is right."""
    failing = answers.filter(kind="failure", setting=setting)
    rows: dict[str, list[Plain]] = {}
    for label, belongs in KINDS:
        for (scenario,), part in failing.filter(belongs).group_by("scenario"):
            counts = part.group_by("prediction").len().sort(["len", "prediction"], descending=True)
            is_right = pl.col("prediction") == pl.col("category")
            is_cause = pl.col("predicted_cause") == pl.col("cause")
            right, cause_right = part.select(is_right, is_cause).fill_null(value=False).sum().row(0)
            rows.setdefault(str(scenario), []).append(
                {
                    "label": label,
                    "answers": part.height,
                    "answer": counts["prediction"][0],
                    "share": round(counts["len"][0] / part.height, 4),
                    "right": round(right / part.height, 4),
                    "cause_right": round(cause_right / part.height, 4),
                }
            )
    return rows


def number(value: float) -> str:
    """A number in words, with four significant digits.

    >>> number(4.5101), number(245787008.0), number(float("nan")), number(float("-inf"))
    ('4.51', '2.458e8', 'not a number', 'infinite')
    """
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite"
    text = f"{value:.4g}"
    mantissa, power, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if power else text


def evidence_sentence(evidence: Evidence) -> str:
    """What a method saw, and what it held it against.

    >>> evidence_sentence(Evidence("max_loss", 8.317, "above", 6.514))
    'Max loss is 8.317, above 6.514.'
    >>> evidence_sentence(Evidence("perplexity", float("nan"), "above", 3.0))
    'Perplexity is missing.'
    >>> evidence_sentence(Evidence("error_text", "size mismatch", "matches", "size mismatch"))
    'The error text has “size mismatch”.'
    >>> evidence_sentence(Evidence("error_text", "", "matches", "size mismatch"))
    'The error text has nothing that matches /size mismatch/.'
    """
    if isinstance(evidence.value, str):
        if evidence.value:
            return f"The error text has “{evidence.value}”."
        return f"The error text has nothing that matches /{evidence.threshold}/."
    name = words(evidence.signal)
    name = name[0].upper() + name[1:]
    if math.isnan(evidence.value):
        return f"{name} is missing."
    limit = evidence.threshold
    held = limit if isinstance(limit, str) else number(limit)
    return f"{name} is {number(evidence.value)}, {evidence.relation} {held}."


def decided_sentence(
    decided: Mapping[str, object], end: Plain, broken: pl.DataFrame, rules: Rules
) -> str:
    """What decided the answer of the monitor."""
    if decided["decided_by"] is None:
        return NOTHING_BROKE
    if decided["decided_kind"] == "ending":
        ending = next(each for each in rules.endings if each.id == decided["decided_by"])
        error = f" {end['error']}: {end['message']}" if end["error"] else ""
        return f"At step {end['end_step']}, phase {end['end_phase']}: {ending.statement}{error}"
    invariant = next(each for each in rules.invariants if each.id == decided["decided_by"])
    row = broken.row(by_predicate=pl.col("invariant") == invariant.id, named=True)
    return (
        f"At step {row['step']}, {words(invariant.signal)} is {number(row['value'])}. "
        f"Condition of healthy training: {invariant.statement}"
    )


def broken_sentences(broken: pl.DataFrame, decided_by: object, rules: Rules) -> list[Plain]:
    """What broke, in its order: the step, the statement that no longer held, and what was seen."""
    known = {invariant.id: invariant for invariant in rules.invariants}
    return [
        {
            "step": row["step"],
            "statement": invariant.statement,
            "seen": f"{words(invariant.signal)} is {number(row['value'])}",
            "kind": invariant.kind,
            "component": invariant.component,
            "decided": invariant.id == decided_by,
        }
        for row in broken.iter_rows(named=True)
        for invariant in (known[row["invariant"]],)
    ]
