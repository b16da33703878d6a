"""Failures: a card per scenario, and what they are filtered by."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario
from failbench.base.verdicts import SHOWN
from failbench.base.vocabulary import ABSTAIN, DIFFICULTIES
from failbench.publish.page.curves import SIGNALS, thinning
from failbench.publish.page.methods import VERDICTS, Answers, method_facts
from failbench.publish.symptoms import error_text
from failbench.study.labels import ARCHITECTURE_LABELS, CATEGORY_LABELS

OUTCOMES: Final = ("crash", "diverged", "stalled", "degraded", "hung", "killed", "slow")

HOW: Final = (
    "One fit of each method that gives evidence: that of the first repeat, which has not learnt "
    f"from this scenario, asked about the run that is drawn. Of more than {SHOWN} conditions, "
    "rules and trees, which check them in order, show the last, which decide; other methods the "
    "leading ones. The other fits may answer otherwise."
)

OPTIMIZER_LABELS: Final = {"adamw": "AdamW", "sgd": "SGD"}

RESTORE: Final = "Restore it with `git checkout -- data/telemetry`"

SHOWN_ERROR: Final = 280  # characters on a card; the view of the failure has all

SIGNAL_OF_OUTCOME: Final = {  # else memory, if that is the category, or the loss
    "slow": "step_seconds",
    "hung": "step_seconds",
    "degraded": "perplexity",
}


def setting_label(setting: str) -> str:
    """What a setting is called.

    >>> setting_label("transformer-adamw")
    'Transformer, AdamW'
    """
    architecture, _, optimizer = setting.partition("-")
    labels = {str(name): label for name, label in ARCHITECTURE_LABELS.items()}
    return f"{labels[architecture]}, {OPTIMIZER_LABELS[optimizer]}"


def failures(
    scenarios: Sequence[Scenario],
    runs: pl.DataFrame,
    answers: Mapping[str, Mapping[str, Answers]],
    difficulty: pl.DataFrame,
    *,
    reference: str,
    seed: int,
) -> dict[str, object]:
    """What the view of all failures reads."""
    failing = with_setting(runs)
    measured = {row["scenario"]: row for row in difficulty.iter_rows(named=True)}
    recorded = failing.sort("setting", "seed").partition_by("scenario", as_dict=True)
    methods = list(next(iter(answers.values()), {}))
    cards = []
    for scenario in scenarios:
        of_scenario = recorded.get((scenario.id,), failing.clear())
        refuse_missing(scenario.id, of_scenario, answers, measured, reference)
        parts = of_scenario.partition_by("setting", maintain_order=True)
        card = {
            "id": scenario.id,
            "title": scenario.title,
            "category": scenario.category,
            "cause": scenario.root_cause,
            "remedy": scenario.remedy,
            "declared": scenario.difficulty,
            "measured": measured[scenario.id]["measured"],
            "ease": round(measured[scenario.id]["ease"], 4),
            "signal": _signal(scenario),
            "settings": {part["setting"][0]: _recorded(part, seed) for part in parts},
            "verdicts": [answers[scenario.id][method].verdict for method in methods],
        }
        cards.append(card)
    some = next(iter(next(iter(answers.values())).values()))
    return {
        "cards": cards,
        "reference": reference,
        "seed": seed,
        "methods": [method_facts(method) for method in methods],
        "verdicts": VERDICTS,
        "categories": dict(CATEGORY_LABELS),
        "answers": {str(name): label for name, label in CATEGORY_LABELS.items()}
        | {ABSTAIN: "abstains"},
        "outcomes": list(OUTCOMES),
        "difficulties": list(DIFFICULTIES),
        "settings": {name: setting_label(name) for name in settings_of(runs, reference)},
        "signals": {signal.name: signal.label for signal in SIGNALS},
        "machine": [signal.name for signal in SIGNALS if signal.of_machine],
        "thinning": thinning(),
        "explained": HOW,
        "asked": {"repeats": some.repeats, "seeds": len(some.right_by_seed), "answers": some.total},
    }


def with_setting(runs: pl.DataFrame) -> pl.DataFrame:
    """Failing runs with their ``setting``: architecture and optimizer, joined by a hyphen."""
    setting = pl.concat_str("architecture", "optimizer", separator="-").alias("setting")
    return runs.filter(pl.col("kind") == "failure").with_columns(setting)


def settings_of(runs: pl.DataFrame, reference: str) -> list[str]:
    """Settings of failing runs: the reference first, the others by name."""
    settings: list[str] = with_setting(runs)["setting"].unique().to_list()
    return sorted(settings, key=lambda name: (name != reference, name))


def refuse_missing(
    scenario: str,
    recorded: pl.DataFrame,
    answers: Mapping[str, object],
    measured: Mapping[str, object],
    reference: str,
) -> None:
    """Refuse a scenario of which something that the page shows is not there."""
    needed = {
        "data/telemetry/runs.parquet": (
            reference in recorded["setting"].to_list(),
            f"{scenario!r} has no failing run in {reference}.",
            f"{RESTORE}, or record it with `failbench record`.",
        ),
        "data/measurements/difficulty/scenarios.parquet": (
            scenario in measured,
            f"there is no row of {scenario!r}.",
            "Run `dvc repro measure_difficulty`.",
        ),
        "data/predictions/nested_cv": (
            scenario in answers,
            f"no method answers {scenario!r}.",
            "Run `dvc repro nested_cv`.",
        ),
    }
    for place, (there, problem, remedy) in needed.items():
        if not there:
            raise BadInputError(place, "scenario", problem, remedy)


def _recorded(runs: pl.DataFrame, seed: int) -> dict[str, object]:
    drawn = runs.filter(pl.col("seed") == seed).row(0, named=True)
    error = error_text(drawn)
    entry: dict[str, object] = {
        "outcomes": runs["outcome"].to_list(),
        "outcome": drawn["outcome"],
        "onset": drawn["onset_step"],
        "failure": drawn["failure_step"],
        "planned": drawn["planned_steps"],
    }
    if error is not None:
        entry["error"] = error[:SHOWN_ERROR]
        if len(error) > SHOWN_ERROR:
            entry["left_out"] = len(error) - SHOWN_ERROR
    return entry


def _signal(scenario: Scenario) -> str:
    other = "memory" if scenario.category == "memory_hardware" else "loss"
    return SIGNAL_OF_OUTCOME.get(scenario.expected_outcome, other)
