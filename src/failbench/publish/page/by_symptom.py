"""By symptom: the causes that show it, what distinguishes them, and their remedies."""

from collections.abc import Iterable, Sequence
from typing import Final

from failbench.base.telemetry import Telemetry
from failbench.causes.catalogue import Advice, advice, cause_of_scenario, causes
from failbench.publish.symptoms import (
    FACTS,
    LEAST_SHARE,
    Condition,
    symptom_scenarios,
    symptoms,
)
from failbench.study.run_curves import pairs

SHOWN_REMEDIES: Final = 2  # of a cause, and of its measurements; the catalogue has all

Plain = dict[str, object]


def symptoms_section(telemetry: Telemetry, *, reference: str, seed: int) -> Plain:
    """What the views of symptoms read, and what searches find scenarios by."""
    drawn = {
        row["run_id"]: f"{row['architecture']}-{row['optimizer']}"
        for row in pairs(telemetry).filter(seed=seed).iter_rows(named=True)
    }
    found = symptom_scenarios(telemetry)
    scenarios: dict[str, list[Plain]] = {}
    for row in found.iter_rows(named=True):
        settings = [drawn[run_id] for run_id in row["run_ids"] if run_id in drawn]
        scenarios.setdefault(row["symptom"], []).append(
            {
                "id": row["scenario"],
                "shown": row["shown"],
                "runs": row["runs"],
                "setting": min(settings, key=lambda name: (name != reference, name), default=None),
            }
        )
    shown = {cause_of_scenario()[scenario] for scenario in found["scenario"]}
    return {
        "symptoms": [
            {
                **symptom.model_dump(exclude={"shows"}),
                "rule": [rule_words(each.items()) for each in symptom.shows],
                "causes": by_cause(scenarios[symptom.id]),
            }
            for symptom in symptoms()
        ],
        "causes": {
            cause.id: {
                "title": cause.title,
                "category": cause.category,
                **_known(advice()[cause.id]),
            }
            for cause in causes().values()
            if cause.id in shown
        },
        "least": LEAST_SHARE,
    }


def by_cause(scenarios: Sequence[Plain]) -> list[Plain]:
    """The causes of scenarios, those of most scenarios first, each with its scenarios."""
    groups: dict[str, list[Plain]] = {}
    for scenario in scenarios:
        groups.setdefault(cause_of_scenario()[str(scenario["id"])], []).append(scenario)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [{"cause": cause, "scenarios": group} for cause, group in ordered]


def rule_words(conditions: Iterable[tuple[str, Condition]]) -> str:
    """What a run must have recorded, in words.

    >>> rule_words({"peak": Condition(least=1)}.items())
    "highest loss, above the twin's highest, nats: at least 1"
    """
    return "; ".join(f"{FACTS[name]}: {_asked(condition)}" for name, condition in conditions)


def _asked(condition: Condition) -> str:
    if condition.matches is not None:
        return f"has /{condition.matches.pattern}/"
    bounds = {"at least": condition.least, "at most": condition.most}
    return ", ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)


def _known(of_cause: Advice) -> Plain:
    return {
        "mechanism": of_cause.mechanism,
        "settle": [
            {"measure": each.measure, "tells": each.tells}
            for each in of_cause.settle[:SHOWN_REMEDIES]
        ],
        "remedies": [
            {"change": each.change, "verify": each.verify}
            for each in of_cause.remedies[:SHOWN_REMEDIES]
        ],
    }
