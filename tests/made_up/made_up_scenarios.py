import numpy as np
import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.vocabulary import CATEGORIES, Difficulty
from failbench.features.catalogue import FEATURES

DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")


def made_up_scenario(name, category, difficulty="easy", **changes):
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


TEXTS = dict.fromkeys(("scenario", "category", "error_type", "error_message"), pl.String)
"""Columns of a feature table that may be empty."""


def feature_row(rng, max_loss, keys):
    """A run of a feature table, of noise but for its largest loss."""
    values = {feature.name: rng.normal() for feature in FEATURES} | {"max_loss": max_loss}
    usual = {"kind": "failure", "seed": 0, "architecture": "transformer", "optimizer": "adamw"}
    return dict.fromkeys(TEXTS) | usual | {"scale": "small"} | keys | values


def reference_runs(scenarios):
    """A feature table with one run per scenario; the loss tells the category, more or less."""
    rng = np.random.default_rng(1)
    rows = []
    for each in scenarios:
        keys = {"run_id": f"{each.id}-transformer-adamw-s0", "scenario": each.id}
        loss = 3 * CATEGORIES.index(each.category) + rng.normal()
        rows.append(feature_row(rng, loss, keys | {"category": each.category}))
    return pl.DataFrame(rows, schema_overrides=TEXTS)
