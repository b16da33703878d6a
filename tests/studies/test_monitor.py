"""The monitor's study from recordings to the report, on runs that are written down."""

from __future__ import annotations

import datetime
import json
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.base.scenarios import read_scenarios
from failbench.base.telemetry import RUN_SCHEMA, categories_of, write_parquet
from failbench.base.vocabulary import CATEGORIES
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, FEATURE_SCHEMA, KEYS
from failbench.monitor.bounds import write_bounds
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.records.scoring import COST_SCHEMA, LADDER
from failbench.monitor.records.tables import (
    Monitored,
    monitored_of,
    monitored_row,
    signal_rows,
    write_monitored,
)
from failbench.prediction.splits import make_splits
from failbench.recording.validity.freezing import PACKAGE, freeze
from made_up_monitored import BOUNDS, history, monitored
from monitor import METHODS
from monitor_bounds import GROUPS, MarginSettings, metrics, rates, setting_bounds
from pipeline import REPOSITORY
from shared.monitor_estimates import blind_rates
from study_settings import INTERVALS

ONSET, FAILURE = 20, 50
CRASH = End("exception", "data", FAILURE, "OSError", "")
SIGNS: dict[str, dict[str, Any]] = {
    "data_pipeline": {"labels_outside": {ONSET: 1.0}},
    "model_software": {"loss_ratio": {ONSET + 10: 3.0}},
    "optimization": {"learning_rate": {ONSET: 0.0}},
    "unknown": {"blocked_data": {ONSET: 9.0}},
    "memory_hardware": {},
}
"""What breaks at the onset of a cause of each component; memory leaves the ending alone."""

DELAYS = {"data_pipeline": 0, "model_software": 10, "optimization": 0, "unknown": 2}
"""Steps from onset to the break; waiting must last for three measurements."""

CHANGED = {
    "monitor": {"versions": ["1"], "halves": ["development"], "lenders": ["gru-sgd"]}
    | {"steps_ahead": [0, 10, 40]},
    "nested_cv": {"architecture": "gru", "optimizer": "sgd"},
    "ebm": {"learning_rate": [0.08], "outer_bags": 2, "max_rounds": 30},
    "random_forest": {"trees": 20, "max_features": ["sqrt"]},
    "statistics": {"resamples": 1000},
}
HALVES = pl.read_csv(REPOSITORY / "data/monitor/halves.csv")
DEVELOPMENT, TEST = (HALVES.filter(half=half) for half in ("development", "test"))


def recordings() -> Iterator[tuple[dict[str, Any], History]]:
    """Failing runs and twins in two settings, and two healthy runs, of which one waits."""
    for scenario in read_scenarios(REPOSITORY / "data/scenarios"):
        for architecture in ("gru", "t5"):
            key = {"scenario": scenario.id, "architecture": architecture}
            name = f"{scenario.id}-{architecture}"
            signs = SIGNS[scenario.category]
            if scenario.id in set(TEST["scenario"]):
                signs = {"labels_outside": {0: 1.0}}  # whoever reads these is wrong
            failing = history(CRASH, FAILURE + 1, **signs)
            yield {**key, "run_id": name, "onset_step": ONSET}, failing
            yield {**key, "run_id": f"{name}-twin", "kind": "twin"}, history()
            if scenario.category == "unknown":  # reading waits as it always did
                begun = history(CRASH, FAILURE + 1, blocked_data={0: 9.0})
                yield {**key, "run_id": f"{name}-from-start", "kind": "from_start"}, begun
    yield {"run_id": "s0", "kind": "success"}, history()
    yield {"run_id": "s1", "kind": "success"}, history(blocked_data={30: 9.0})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the stages read, with recordings, bounds and a version, and what they wrote."""
    root = tmp_path_factory.mktemp("project")
    params = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
    changed = {section: params[section] | values for section, values in CHANGED.items()}
    (root / "params.yaml").write_text(yaml.safe_dump(params | changed), "utf-8")
    for name in ("figures/matplotlibrc", "data/monitor/halves.csv"):
        (root / name).parent.mkdir(parents=True)
        shutil.copy(REPOSITORY / name, root / name)
    for name in ("data/scenarios", "paper/captions"):
        shutil.copytree(REPOSITORY / name, root / name)
    folder = root / "data/monitor"
    (folder / "bounds").mkdir()
    table = monitored(list(recordings()))
    for architecture in ("gru", "t5"):
        part = table.select(pl.col("architecture") == architecture)
        write_monitored(folder, f"{architecture}-sgd", part)
    write_bounds(folder / "bounds/gru-sgd.json", BOUNDS, 2, "made up")
    shutil.copytree(PACKAGE, root / "package")
    _make_waits_a_statistic(root / "package/data/invariants.csv")
    freeze(folder, "1", datetime.date(2026, 11, 22), "all", "the first", root / "package")
    telemetry = [
        dict.fromkeys(RUN_SCHEMA) | {"run_id": run_id, "failure_step": FAILURE}
        for run_id in table.runs["run_id"]
    ]
    runs = pl.DataFrame(telemetry, schema=RUN_SCHEMA)
    write_parquet(runs, root / "data/telemetry/runs.parquet")
    judged = set(DEVELOPMENT["scenario"])
    _write_features(root, table.runs, judged)
    rungs = [(rung.name, 30.0, 31.0, 1.0 + place / 10) for place, rung in enumerate(LADDER)]
    pl.DataFrame(rungs, schema=COST_SCHEMA, orient="row").write_csv(folder / "cost.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("FAILBENCH_WORKERS", "1")
        fits = [("nested_cv", method) for method in METHODS]
        for stage, *arguments in (("invariants",), ("known",), *fits, ("monitor",)):
            patch.setattr("sys.argv", [stage, *arguments])
            runpy.run_path(str(REPOSITORY / f"experiments/{stage}.py"), run_name="__main__")
    return root


def _make_waits_a_statistic(path: Path) -> None:
    """As in the rules that are made up: what a test expects is no version's matter."""
    catalogue = pl.read_csv(path, infer_schema=False)
    is_it = pl.when(pl.col("id") == "reads_not_blocked")
    changed = {"kind": "statistic", "rows": "3", "window": "20", "past_of": ""}
    catalogue.with_columns(
        is_it.then(pl.lit(value)).otherwise(name).alias(name) for name, value in changed.items()
    ).write_csv(path)


def _write_features(root: Path, runs: pl.DataFrame, judged: set[str]) -> None:
    """Features that tell nothing, and folds, of the half that is judged."""
    runs = runs.filter(pl.col("scenario").is_in(judged) | pl.col("scenario").is_null())
    generator = np.random.default_rng(0)
    categories = categories_of(read_scenarios(REPOSITORY / "data/scenarios"))
    keys = runs.join(categories, on="scenario", how="left").select(KEYS)
    noise = {
        name: pl.Series(generator.normal(size=runs.height))
        for name in FEATURE_SCHEMA
        if name not in (*KEYS, *ERROR_TEXT_COLUMNS)
    }
    empty = dict.fromkeys(ERROR_TEXT_COLUMNS, pl.lit(None, pl.String))
    table = keys.with_columns(**noise, **empty).select(FEATURE_SCHEMA.names())
    write_parquet(table.cast(FEATURE_SCHEMA), root / "data/features/features.parquet")
    of_half = categories.filter(pl.col("scenario").is_in(judged))
    splits = make_splits(of_half, folds=2, repeats=1, seed=0)
    write_parquet(splits, root / "data/features/splits.parquet")


@pytest.fixture(scope="module")
def found(project: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((project / "data/metrics/monitor.json").read_text("utf-8"))
    return content["versions"]["1"]


def test_accuracy_is_of_the_development_half_and_abstentions_are_wrong(found, project):
    counts = dict(DEVELOPMENT["category"].value_counts().rows())
    total = sum(counts.values())
    of_setting, other = found["gru-sgd"], found["t5-sgd"]
    whole, component = of_setting["whole"]["whole"], of_setting["component"]
    # a crash while reading, and nothing else, is taken for a fault of the data
    expected = pytest.approx(1 - counts["memory_hardware"] / total, abs=1e-6)
    assert (whole["accuracy"]["n"], whole["accuracy"]["value"]) == (total, expected)
    accuracies = [component[name]["accuracy"]["value"] for name in ("memory_hardware", "unknown")]
    assert accuracies == [0, 1]
    # without bounds of its own, waiting is not seen in the other setting, but with those of this
    assert other["component"]["unknown"]["accuracy"]["value"] == 0
    assert other["borrowed"]["gru-sgd"]["accuracy"]["value"] == expected
    assert "borrowed" not in of_setting
    begun = of_setting["from_start"]
    assert begun["from_start"]["accuracy"]["value"] == 0
    assert begun["with_past"]["accuracy"] == component["unknown"]["accuracy"]
    assert of_setting["half"] == {"development": whole}
    assert of_setting["log"] == {"whole": whole}  # the crash is the end of the log
    for name in ("breaks", "verdicts", "ends"):
        table = pl.read_parquet(project / f"data/measurements/invariants/{name}.parquet")
        scenarios = table["run_id"].str.replace(r"-(gru|t5)(-twin|-from-start)?$", "")
        assert not set(scenarios) & set(TEST["scenario"])


def test_rungs_and_families_say_what_each_measurement_is_worth(found):
    of_setting = found["gru-sgd"]
    whole = of_setting["whole"]["whole"]["accuracy"]
    rungs = {name: rate["accuracy"]["value"] for name, rate in of_setting["rung"].items()}
    assert rungs["ending"] < rungs["batches"] < rungs["optimizer"] < rungs["memory"]
    assert rungs["probes"] == whole["value"]
    lost = {name: rate["lost"]["value"] for name, rate in of_setting["family"].items()}
    assert (lost["labels"], lost["probes"]) == (0, 0)  # the ending says as much as labels do
    of_schedule = of_setting["component"]["optimization"]["accuracy"]["n"] / whole["n"]
    assert lost["schedule"] == pytest.approx(of_schedule, abs=1e-6)


def test_first_breaks_and_false_alarms_are_counted(found, project):
    first, alarms = (found["gru-sgd"][name] for name in ("first_break", "false_alarms"))
    assert (first["before"], first["never"] > 0) == (0, True)
    delays = [DELAYS[each] for each in DEVELOPMENT["category"] if each in DELAYS]
    quartiles = np.quantile(delays, (0.25, 0.5, 0.75)).tolist()
    assert [first["low"], first["median"], first["high"]] == quartiles
    assert alarms["twin"]["own"]["value"] == alarms["success"]["logic"]["value"] == 0
    assert (alarms["success"]["own"]["value"], alarms["twin"]["own"]["ci_high"] > 0) == (0.5, True)
    decisive = pl.read_csv(project / "data/plots/monitor_decisive.csv")
    (ending,) = decisive.filter(setting="gru-sgd", decided_by="error_in_data").to_dicts()
    assert (ending["right"], ending["wrong"] > 0) == (0, True)
    assert set(decisive["decided_by"]) >= {"labels_are_classes", "reads_not_blocked"}


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
