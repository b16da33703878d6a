from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.monitor.blind import blind_rates
from failbench.vocabulary import CATEGORIES

SETTINGS = ScenarioIntervalSettings(
    confidence=0.9, resamples=1000, seed=0, wilson_from=0.99, wilson_below=1
)
OTHER = {category: CATEGORIES[place - 1] for place, category in enumerate(CATEGORIES)}


def answers(half, setting="x", right=lambda place: True):
    """Two scenarios a category, each with a run, in one repeat."""
    rows = [
        {
            "run_id": f"{category}-{place}-{half}-{setting}",
            "category": category,
            "scenario": f"{category}-{place}-{half}",
            "seed": 0,
            "repeat": 0,
            "half": half,
            "setting": setting,
            "prediction": category if right(place) else OTHER[category],
        }
        for category in CATEGORIES
        for place in range(2)
    ]
    return pl.DataFrame(rows)


def judged(version, *parts):
    table = pl.concat(parts)
    return SimpleNamespace(rules=SimpleNamespace(version=version), at_failure=lambda: table)


def forest(right):
    """Two repeats, on runs of both halves, of which the second is wrong of every scenario."""
    of = pl.concat([answers("development"), answers("test", right=right)])
    wrong = of.with_columns(
        prediction=pl.col("category").replace_strict(OTHER), repeat=pl.lit(1, pl.Int64)
    )
    return pl.concat([of, wrong]).drop("half", "setting")


def test_the_version_and_the_forest_are_held_against_one_another_on_the_unseen_half():
    blind = blind_rates(
        [
            judged("1", answers("test", right=lambda place: False)),
            judged(
                "2",
                answers("development", right=lambda place: False),
                answers("test", "y", right=lambda place: False),
                answers("test", right=lambda place: place == 0),
            ),
        ],
        forest(right=lambda place: True),
        "x",
        SETTINGS,
    )
    assert {name: rate.n for name, rate in blind.items()} == dict.fromkeys(blind, 10)
    assert blind["version_2"].value == 0.5
    assert blind["forest"].value == 0.5  # right in one of two repeats
    assert blind["difference"].value == 0
    # paired, scenario by scenario, +0.5 and -0.5
    assert blind["difference"].ci_low < 0 < blind["difference"].ci_high


@pytest.mark.parametrize("versions", [["1"], ["2"]])
def test_nothing_is_said_where_the_version_has_not_judged_the_half(versions):
    known = [judged(version, answers("development")) for version in versions]
    assert blind_rates(known, forest(right=lambda place: True), "x", SETTINGS) == {}
