"""Made-up scenarios, with the reference runs that neighbours are looked for in."""

import numpy as np
import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.vocabulary import CATEGORIES, Category, Difficulty
from failbench.features.catalogue import FEATURES

DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")


def made_up_scenario(
    name: str, category: Category, difficulty: Difficulty = "easy", **changes: object
) -> Scenario:
    """A definition; a hard one looks like the category after its own."""
    after = CATEGORIES[(CATEGORIES.index(category) + 1) % len(CATEGORIES)]
    facts = {"id": name, "title": f"A title for {name}", "category": category}
    facts |= {"root_cause": "A cause that a test made up.", "difficulty": difficulty}
    facts |= {"symptom_category": after if difficulty == "hard" else category}
    facts |= {"fault": {"name": name, "onset": "mid_run"}, "expected_outcome": "slow"}
    facts |= {"ambiguity": "truly_ambiguous" if category == "unknown" else None}
    facts |= {"remedy": "None is needed, it is a test.", "rationale": f"The reason of {name}."}
    return Scenario.model_validate(facts | changes)


def made_up_scenarios(count: int) -> tuple[Scenario, ...]:
    """So many scenarios a category, ``<category>_<number>``, of each difficulty in turn."""
    return tuple(
        made_up_scenario(f"{category}_{number}", category, DIFFICULTIES[number % 3])
        for category in CATEGORIES
        for number in range(count)
    )


def reference_runs(scenarios: tuple[Scenario, ...]) -> pl.DataFrame:
    """A feature table with one run per scenario; the loss tells the category, more or less."""
    rng = np.random.default_rng(1)
    rows = []
    for scenario in scenarios:
        values = {feature.name: rng.normal() for feature in FEATURES}
        values["max_loss"] = 3 * CATEGORIES.index(scenario.category) + rng.normal()
        keys = {"run_id": f"{scenario.id}-transformer-adamw-s0", "kind": "failure", "seed": 0}
        keys |= {"scenario": scenario.id, "category": scenario.category, "scale": "small"}
        keys |= {"architecture": "transformer", "optimizer": "adamw"}
        rows.append({**keys, "error_type": None, "error_message": None, **values})
    return pl.DataFrame(
        rows, schema_overrides={"error_type": pl.String, "error_message": pl.String}
    )
