from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.records.tables import (
    Monitored,
    monitored_of,
    monitored_row,
    signal_rows,
)
from monitor_bounds import GROUPS, MarginSettings, metrics, rates, setting_bounds
from shared.monitor_estimates import blind_rates
from study_settings import INTERVALS

# A version on the half that it was not made on.

OTHER = {category: CATEGORIES[place - 1] for place, category in enumerate(CATEGORIES)}


def answers(half, setting="x", right=lambda place: False):
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


def test_the_version_and_the_forest_are_held_against_one_another_on_the_unseen_half():
    right = [answers(half, right=lambda place: True) for half in ("development", "test")]
    of_both = pl.concat(right).drop("half", "setting")
    category = pl.col("category").replace_strict(OTHER)
    second = of_both.with_columns(prediction=category, repeat=pl.lit(1, pl.Int64))
    unseen = answers("test", right=lambda place: place == 0)
    versions = [
        judged("1", answers("test")),
        judged("2", answers("development"), answers("test", "y"), unseen),
    ]
    blind = blind_rates(versions, pl.concat([of_both, second]), "x", INTERVALS)
    assert {name: rate.n for name, rate in blind.items()} == dict.fromkeys(blind, 10)
    # the forest is right in one of two repeats: paired, scenario by scenario, +0.5 and -0.5
    values = [blind[name].value for name in ("version_2", "forest", "difference")]
    assert values == [0.5, 0.5, 0]
    assert blind["difference"].ci_low < 0 < blind["difference"].ci_high


# Bounds of a setting, and which healthy runs each margin alarms.

CHOICE = MarginSettings(margins=(0.0, 8.0), most_alarmed=0.01, confidence=0.95)


def healthy(n: int) -> Monitored:
    """Healthy runs whose reading and gradients vary, from one to the next too."""
    generator = np.random.default_rng(1)
    of_run = {"kind": "success", "architecture": "gru", "optimizer": "sgd", "scale": "small"}
    rows = []
    for run in range(n):
        values = generator.lognormal(generator.normal(0, 0.3), 0.2, (60, 2)).tolist()
        steps = tuple(
            Row(step, {"blocked_data": blocked, "gradient_norm": norm})
            for step, (blocked, norm) in enumerate(values)
        )
        lived = History("standard", 1, {}, {}, steps, End("completed", "callback", 59))
        rows.append((monitored_row(lived, {**of_run, "run_id": f"s{run}"}), signal_rows(lived)))
    return monitored_of(rows)


def test_the_smallest_margin_that_alarms_seldom_is_taken():
    fitted = {"gru-sgd": setting_bounds("gru-sgd", healthy(12), CHOICE, ())}
    assert [fitted["gru-sgd"].margins[name] for name in GROUPS] == [8.0, 8.0]
    bounds = fitted["gru-sgd"].bounds
    assert set(bounds) >= {"reads_not_blocked", "gradients_not_growing"}
    of_setting = metrics(fitted, rates(fitted, CHOICE.confidence))["gru-sgd"]
    narrow, wide = of_setting["training"]["0.0"]["any"], of_setting["machine"]["8.0"]["any"]
    assert (narrow["n"], narrow["value"] > 0) == (12, True)
    assert (wide["value"], wide["ci_high"]) == (0, pytest.approx(0.2425, abs=1e-3))
    chosen = {"training": 8.0, "machine": 8.0, "runs": 12, "bounds": len(bounds)}
    assert of_setting["chosen"] == chosen
    with pytest.raises(BadInputError, match="gru-sgd: has 1 completed"):
        setting_bounds("gru-sgd", healthy(1), CHOICE, ())
