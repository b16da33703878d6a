"""Notes of the tables of the study of peers."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, percent, with_interval, words
from failbench.reporting.scope import Scope
from failbench.studies.peers.elsewhere import Asked
from failbench.studies.peers.schemas import DOCUMENTED
from failbench.studies.peers.shown import Shown, architecture, label

RUNS_NOTE: Final = (
    "Runs: the {failing} failing runs of {scenarios} scenarios, {seeds} seeds, in {setting}, their "
    "{twins} healthy twins and {successes} successes; small models. Nobody who is asked for alarms "
    "is told that a run failed. Detected: any alarm up to the end of the recording. {interval:g} % "
    "intervals by resampling scenarios and their seeds, Wilson's at the edges; of false alarms "
    "Wilson's with n = runs."
)
RULES_NOTE: Final = (
    "Rules are those of src/failbench/peers/data/rules.csv, with thresholds as documented; they "
    "read loss, gradient norm, learning rate, time, padding and held-out loss of every step, and "
    "no error message. That a tool ends a training which no longer improves counts as an alarm, "
    "too. In brackets how many of the peer's rules apply to what is recorded. Verdicts are mapped "
    "to categories by src/failbench/peers/data/mapping.csv; one that names no category is wrong. "
    "To call every run a failure of optimization would be right in {optimization} %."
)
TOOLS_NOTE: Final = (
    "Tools were given complete logs ({reads}) to the end of the recording, with the error message "
    "where the format has one, and afterwards, so that they have no first alarm. "
    "ml-training-debugger is a skill for agents, of which the documented thresholds were taken."
)
OURS_NOTE: Final = (
    "failbench diagnose is given complete logs that end at the failure, with the error message, "
    "and models that learnt from other scenarios, and is not told that a run failed. The methods "
    "below it are told; they learn, if they do, from other scenarios, and answer in {repeats} "
    "repeats of the folds with the paper's 19 features. Alarms of the invariants are those of the "
    "monitor, which reads weights, activations and batches besides, in whole logs."
)
COLUMNS_NOTE: Final = (
    "Steps ahead: median steps from the first alarm to the failure, of runs with an alarm, below "
    "zero where it comes later. Conditions: what a person checks to verify a verdict: the "
    "thresholds of the rule that decided and one of every other rule, or all checks of a tool; "
    "of our methods as in the trade-off. –: it has none, or is told."
)
BEST_NOTE: Final = (
    "For each fold the factor of all thresholds of a peer, or the bound from which its verdicts "
    "count, was chosen on the scenarios of the other folds and their twins ({repeats} repeats of "
    "{folds} folds), and judged on those of the fold: once for detection less alarms of twins, "
    "once for right categories. In brackets the choice that was made most often. A threshold of "
    "zero has no factor. Who chooses for categories alone may alarm everything."
)

DIFFERENCE_NOTE: Final = (
    "Difference: paired, of each failing run and its twin; below zero where twins, which run to "
    "the end, are alarmed more often. Before the fault a run and its twin are equal, and an "
    "alarm is false: steps ahead are worth what is left of them. F1: of alarms in these pairs; to "
    "alarm every run has 66.7."
)
CATEGORIES_NOTE: Final = (
    "Percent detected / percent right; n scenarios of {seeds} seeds each, in other architectures "
    "of one, intervals in data/plots/peers_detail.csv. Ended early: by an exception, a signal or "
    "by hanging, which is seen without any tool; some scenarios have runs of both kinds."
)
COVERAGE_NOTE: Final = (
    "Exact: against the signal that the rule is for. Stand-in: against another that is declared "
    "with the rule, such as the norm of all gradients in place of a layer's, or the steps "
    "between two validations in place of an epoch. Not applicable: the signal was not recorded, "
    "or there is no threshold."
)

ELSEWHERE_NOTE: Final = (
    "DEFault++ reads no logs and is called at every step: runs of one seed were trained again with "
    "it, {asked}. It reads {read}. A run that ended early leaves it no features, and at the first "
    "step of a BERT its extractor raises. What it could not read is not detected; as read: rates "
    "among the runs that it could read; n = failing runs, one of each scenario. All its categories "
    "come to the model's software, which is the cause in {model} % of scenarios. Its authors state "
    "an F1 of .83 (encoders) and .91 (decoders) for detection and a macro F1 of .85 and .87 for "
    "its twelve categories, in cross-validation and without intervals, of transformers of six "
    "layers and more that were fine-tuned with injected faults and without. Here its F1 for "
    "detection is {f1}, of pairs that it read, of which to alarm every run has 66.7. Models here "
    "have two layers, are trained from scratch, and attend to what comes before alone: measured is "
    "what its shipped model makes of these, and not its paper."
)
ISSUES_NOTE: Final = (
    "The category that it answers with, whatever the cause: of the failing runs, and of the same "
    "runs without their fault, of which every one was trained to its end."
)


def notes(shown: Shown) -> tuple[str, ...]:
    """What a reader of most tables must know of runs, rules and tools."""
    kinds = dict(shown.runs.group_by("kind").len().iter_rows())
    scope = Scope.of(shown.runs.filter(kind="failure"))
    reads = ", ".join(f"{label(peer)} as {words(form)}" for peer, form in shown.reads.items())
    return (
        RUNS_NOTE.format(
            failing=scope.runs,
            twins=kinds["twin"],
            successes=kinds["success"],
            scenarios=scope.scenarios,
            seeds=scope.seeds,
            setting=scope.setting,
            interval=100 * shown.confidence,
        ),
        rules_note(shown),
        TOOLS_NOTE.format(reads=reads),
        *([elsewhere_note(shown)] if shown.by_group["elsewhere"] else []),
        OURS_NOTE.format(repeats=shown.repeats_of_methods),
        *development_note(shown.methods),
    )


def rules_note(shown: Shown) -> str:
    """What a reader must know of rules."""
    return RULES_NOTE.format(optimization=_share(shown.runs, "optimization"))


def elsewhere_note(shown: Shown) -> str:
    """What a reader must know of the peer that was asked about runs of other settings."""
    asked = [row for row in map(Asked.of, shown.by_group["elsewhere"]) if row is not None]

    def sizes(rows: list[Asked]) -> str:
        return ", ".join(
            f"{counts.get('failure', 0)} failing runs and {counts.get('twin', 0)} healthy twins "
            f"of {architecture(row)}"
            for row in rows
            for counts in [shown.sizes(row.method)]
        )

    return ELSEWHERE_NOTE.format(
        asked=sizes([row for row in asked if not row.read]),
        read=sizes([row for row in asked if row.read]) or "none",
        f1=", ".join(_f1(shown, row.method) for row in asked if row.read) or ABSENT,
        model=_share(shown.elsewhere.runs, "model_software"),
    )


def _f1(shown: Shown, method: str) -> str:
    row = shown.rate(DOCUMENTED, method, "f1")
    assert row is not None  # it is not told that a run failed
    return with_interval(row["value"], row["ci_low"], row["ci_high"], percent)


def _share(runs: pl.DataFrame, category: str) -> str:
    """Percent of scenarios whose cause is of a category."""
    scenarios = runs.filter(kind="failure").select("scenario", "category").unique()
    return percent(scenarios.filter(category=category).height / scenarios.height)
