"""The monitor's study from recordings to the report, on runs that are written down."""

from __future__ import annotations

import datetime
import json
import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from failbench.base.scenarios import read_scenarios
from failbench.base.telemetry import RUN_SCHEMA, categories_of, write_parquet
from failbench.base.vocabulary import CATEGORIES
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, FEATURE_SCHEMA, KEYS
from failbench.monitor.bounds import write_bounds
from failbench.monitor.end import End
from failbench.monitor.records.scoring import COST_SCHEMA, LADDER
from failbench.monitor.records.tables import write_monitored
from failbench.prediction.splits import make_splits
from failbench.recording.validity.freezing import PACKAGE, freeze
from failbench.statistics.intervals import ScenarioIntervalSettings
from made_up_monitored import BOUNDS, history, monitored
from monitor import METHODS
from pipeline import REPOSITORY
from shared.monitor_estimates import blind_rates

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

FOR_NOBODY = "test"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the stages read, with recordings, bounds and a version, and what they wrote."""
    root = tmp_path_factory.mktemp("project")
    params = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
    params["statistics"]["resamples"] = 1000
    params["monitor"] |= {
        "versions": ["1"],
        "halves": ["development"],
        "lenders": ["gru-sgd"],
        "steps_ahead": [0, 10, 40],
    }
    params["nested_cv"] |= {"architecture": "gru", "optimizer": "sgd"}
    params["ebm"] |= {"learning_rate": [0.08], "outer_bags": 2, "max_rounds": 30}
    params["random_forest"] |= {"trees": 20, "max_features": ["sqrt"]}
    (root / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    (root / "figures").mkdir()
    shutil.copy(REPOSITORY / "figures/matplotlibrc", root / "figures")
    shutil.copytree(REPOSITORY / "data/scenarios", root / "data/scenarios")
    shutil.copytree(REPOSITORY / "paper/captions", root / "paper/captions")
    folder = root / "data/monitor"
    (folder / "bounds").mkdir(parents=True)
    shutil.copy(REPOSITORY / "data/monitor/halves.csv", folder)
    halves = pl.read_csv(folder / "halves.csv")
    of_half = dict(halves.select("scenario", "half").rows())
    runs: list[Any] = []
    for scenario in read_scenarios(REPOSITORY / "data/scenarios"):
        for architecture in ("gru", "t5"):
            key = {"scenario": scenario.id, "architecture": architecture}
            name = f"{scenario.id}-{architecture}"
            signs = SIGNS[scenario.category]
            if of_half[scenario.id] == FOR_NOBODY:
                signs = {"labels_outside": {0: 1.0}}  # whoever reads these is wrong
            failing = history(CRASH, FAILURE + 1, **signs)
            runs.append(({**key, "run_id": name, "onset_step": ONSET}, failing))
            runs.append(({**key, "run_id": f"{name}-twin", "kind": "twin"}, history()))
            if scenario.category == "unknown":  # reading waits as it always did
                begun = history(CRASH, FAILURE + 1, blocked_data={0: 9.0})
                runs.append(({**key, "run_id": f"{name}-from-start", "kind": "from_start"}, begun))
    runs.append(({"run_id": "s0", "kind": "success"}, history()))
    runs.append(({"run_id": "s1", "kind": "success"}, history(blocked_data={30: 9.0})))
    table = monitored(runs)
    for architecture in ("gru", "t5"):
        part = table.select(pl.col("architecture") == architecture)
        write_monitored(folder, f"{architecture}-sgd", part)
    write_bounds(folder / "bounds/gru-sgd.json", BOUNDS, 2, "made up")
    package = root / "package"
    shutil.copytree(PACKAGE, package)
    _make_waits_a_statistic(package / "data/invariants.csv")
    freeze(folder, "1", datetime.date(2026, 11, 22), "all", "the first", package)
    detected = table.runs.select("run_id", failure_step=pl.lit(FAILURE, pl.Int32))
    telemetry = pl.DataFrame(
        [dict.fromkeys(RUN_SCHEMA) | row for row in detected.to_dicts()], schema=RUN_SCHEMA
    )
    write_parquet(telemetry, root / "data/telemetry/runs.parquet")
    judged = {scenario for scenario, half in of_half.items() if half == "development"}
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
    is_it = pl.col("id") == "reads_not_blocked"
    for column, value in {"kind": "statistic", "rows": "3", "window": "20", "past_of": ""}.items():
        catalogue = catalogue.with_columns(
            pl.when(is_it).then(pl.lit(value)).otherwise(column).alias(column)
        )
    catalogue.write_csv(path)


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
def metrics(project: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((project / "data/metrics/monitor.json").read_text("utf-8"))
    return content["versions"]["1"]


def test_accuracy_is_of_the_development_half_and_abstentions_are_wrong(metrics, project):
    halves = pl.read_csv(project / "data/monitor/halves.csv").filter(half="development")
    counts = dict(halves["category"].value_counts().rows())
    whole = metrics["gru-sgd"]["whole"]["whole"]
    total = sum(counts.values())
    # a crash while reading, and nothing else, is taken for a fault of the data
    assert whole["accuracy"]["n"] == total
    assert whole["accuracy"]["value"] == pytest.approx(
        1 - counts["memory_hardware"] / total, abs=1e-6
    )
    assert metrics["gru-sgd"]["component"]["memory_hardware"]["accuracy"]["value"] == 0
    assert metrics["gru-sgd"]["component"]["unknown"]["accuracy"]["value"] == 1
    # without bounds of its own, waiting is not seen in the other setting, but with those of this
    assert metrics["t5-sgd"]["component"]["unknown"]["accuracy"]["value"] == 0
    borrowed = metrics["t5-sgd"]["borrowed"]["gru-sgd"]["accuracy"]["value"]
    assert borrowed == pytest.approx(whole["accuracy"]["value"], abs=1e-6)
    assert "borrowed" not in metrics["gru-sgd"]
    begun = metrics["gru-sgd"]["from_start"]
    assert begun["from_start"]["accuracy"]["value"] == 0
    assert begun["with_past"]["accuracy"] == metrics["gru-sgd"]["component"]["unknown"]["accuracy"]
    assert metrics["gru-sgd"]["half"] == {"development": whole}
    assert metrics["gru-sgd"]["log"] == {"whole": whole}  # the crash is the end of the log


def test_rungs_and_families_say_what_each_measurement_is_worth(metrics):
    of_setting = metrics["gru-sgd"]
    rungs = {name: rate["accuracy"]["value"] for name, rate in of_setting["rung"].items()}
    component = of_setting["component"]
    assert rungs["ending"] < rungs["batches"] < rungs["optimizer"] < rungs["memory"]
    assert rungs["probes"] == of_setting["whole"]["whole"]["accuracy"]["value"]
    families = {name: rate["lost"]["value"] for name, rate in of_setting["family"].items()}
    assert families["labels"] == 0  # the ending says as much
    assert families["schedule"] == pytest.approx(
        component["optimization"]["accuracy"]["n"] / of_setting["whole"]["whole"]["accuracy"]["n"],
        abs=1e-6,
    )
    assert families["probes"] == 0


def test_first_breaks_and_false_alarms_are_counted(metrics, project):
    first = metrics["gru-sgd"]["first_break"]
    assert (first["before"], first["never"] > 0) == (0, True)
    halves = pl.read_csv(project / "data/monitor/halves.csv").filter(half="development")
    delays = [
        delay
        for category, delay in DELAYS.items()
        for _ in range(halves.filter(category=category).height)
    ]
    expected = np.quantile(delays, (0.25, 0.5, 0.75))
    assert [first["low"], first["median"], first["high"]] == expected.tolist()
    alarms = metrics["gru-sgd"]["false_alarms"]
    assert alarms["twin"]["own"]["value"] == 0
    assert alarms["twin"]["own"]["ci_high"] > 0
    assert alarms["success"]["own"]["value"] == 0.5
    assert alarms["success"]["logic"]["value"] == 0
    decisive = pl.read_csv(project / "data/plots/monitor_decisive.csv")
    (ending,) = decisive.filter(setting="gru-sgd", decided_by="error_in_data").to_dicts()
    assert ending["right"] == 0
    assert ending["wrong"] > 0
    assert set(decisive["decided_by"]) >= {"labels_are_classes", "reads_not_blocked"}


def test_nothing_of_the_other_half_is_in_any_output(project):
    halves = pl.read_csv(project / "data/monitor/halves.csv").filter(half="test")
    for name in ("breaks", "verdicts", "ends"):
        table = pl.read_parquet(project / f"data/measurements/invariants/{name}.parquet")
        scenarios = table["run_id"].str.replace(r"-(gru|t5)(-twin|-from-start)?$", "")
        assert not set(scenarios) & set(halves["scenario"])


# A version on the half that it was not made on.

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
