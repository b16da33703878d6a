"""Scenarios: one root cause each, that can be injected into any architecture."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, StringConstraints, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import (
    Record as Record,  # re-exported: fingerprints hash the recorder's imports
)
from failbench.base.records import validated
from failbench.base.vocabulary import CATEGORIES, Category, Difficulty

Outcome = Literal["crash", "diverged", "stalled", "degraded", "hung", "killed", "slow"]
OnsetKind = Literal["start_crash", "from_start", "mid_run"]
Ambiguity = Literal["truly_ambiguous", "insufficient_signal", "conservative_labelling"]
Architecture = Literal["transformer", "t5", "distilbert", "bert", "lstm", "gru"]
Optimizer = Literal["adamw", "sgd"]

ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
OPTIMIZERS: tuple[Optimizer, ...] = get_args(Optimizer)

COUNTS: dict[Category, int] = {  # scenarios per category: the counts of the paper's section 3.2
    "memory_hardware": 20,
    "optimization": 15,
    "data_pipeline": 18,
    "model_software": 15,
    "unknown": 8,
}

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=48)]
Sentence = Annotated[str, StringConstraints(min_length=10)]


class FaultDeclaration(Record):
    """The injected fault, its parameters, and the kind of its onset, whose step is drawn."""

    name: Identifier
    parameters: dict[str, int | float | str | bool] = Field(default_factory=dict)
    onset: OnsetKind


class Scenario(Record):
    """One root cause of a failing training run.

    ``author`` wrote it and its fault: A the 76 of the benchmark, B those in ``data/author_b``.
    ``symptom_category`` is the category that the symptoms suggest; a scenario is *hard* exactly
    when it differs from the category of the cause. ``not_applicable`` names the architectures in
    which the cause cannot occur, each with its reason. ``other_outcomes`` are outcomes of some runs
    other than the expected one, each with the condition that decides between them.
    """

    id: Identifier
    author: str | None = None
    title: Sentence
    category: Category
    root_cause: Sentence
    difficulty: Difficulty
    symptom_category: Category
    fault: FaultDeclaration
    expected_outcome: Outcome
    other_outcomes: dict[Outcome, Sentence] = Field(default_factory=dict)
    ambiguity: Ambiguity | None = None
    not_applicable: dict[Architecture, Sentence] = Field(default_factory=dict)
    remedy: Sentence
    rationale: Sentence

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if (self.difficulty == "hard") != (self.symptom_category != self.category):
            raise ValueError(
                "difficulty must be hard exactly when symptom_category differs from category"
            )
        if (self.category == "unknown") != (self.ambiguity is not None):
            raise ValueError("ambiguity must be given for unknown scenarios and for no others")
        if self.fault.onset == "start_crash" and self.outcomes != ("crash",):
            raise ValueError("a start_crash fault must have the expected_outcome crash, no other")
        if self.expected_outcome in self.other_outcomes:
            raise ValueError("other_outcomes must leave out the expected_outcome")
        return self

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every permitted outcome of a run, the expected one first."""
        return (self.expected_outcome, *self.other_outcomes)


def read_scenario(path: Path) -> Scenario:
    """Read and validate one scenario file."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        problem = f"is not JSON: {error}."
        raise BadInputError(path, "(file)", problem, "Correct the syntax.") from error
    remedy = "Correct it after the model failbench.base.scenarios.Scenario."
    scenario = validated(Scenario, raw, path, remedy)
    expected = Path(scenario.category) / f"{scenario.id}.json"
    if Path(path.parent.name) / path.name != expected:
        raise BadInputError(
            path,
            "category" if path.parent.name != scenario.category else "id",
            f"the file says {expected} but lies elsewhere.",
            "Move the file, or correct its id and category.",
        )
    return scenario


def read_scenarios(folder: Path) -> tuple[Scenario, ...]:
    """Read every ``<category>/<id>.json`` below a folder, in the order of categories, then ids.

    Raises
    ------
    BadInputError
        If a file is invalid, two files share an id, or the folder holds none.
    """
    paths = sorted(folder.glob("*/*.json"))
    if not paths:
        problem = "holds no scenario files."
        raise BadInputError(folder, "(folder)", problem, "Point to the folder data/scenarios.")
    scenarios: dict[str, Scenario] = {}
    for path in paths:
        scenario = read_scenario(path)
        if scenario.id in scenarios:
            problem = f"{scenario.id!r} is the id of a {scenarios[scenario.id].category} scenario."
            raise BadInputError(path, "id", problem, "Give each scenario a unique id.")
        scenarios[scenario.id] = scenario
    return tuple(
        sorted(
            scenarios.values(),
            key=lambda scenario: (CATEGORIES.index(scenario.category), scenario.id),
        )
    )


def missing_from_counts(scenarios: tuple[Scenario, ...]) -> dict[Category, int]:
    """Missing (positive) or surplus (negative) scenarios of each category whose count is wrong."""
    counts = Counter(scenario.category for scenario in scenarios)
    return {
        category: wanted - counts[category]
        for category, wanted in COUNTS.items()
        if wanted != counts[category]
    }
