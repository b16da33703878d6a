import csv
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polars as pl
import pytest
import yaml

from failbench.base.methods import MONITOR_METHODS
from failbench.base.predictions import PREDICTION_SCHEMA, SPLIT_SCHEMA, most_probable
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, ON_INVARIANTS, POOLED
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.recording.fingerprint import PROVENANCE
from pipeline import REPOSITORY
from shared.controls import CHANCE

KEY = PREDICTION_SCHEMA.names()[:6]
PARAMS = yaml.safe_load((REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
PREDICTIONS = sorted((REPOSITORY / "data" / "predictions").glob("*/*.parquet"))
LANGUAGE_MODELS = REPOSITORY / "data" / "predictions" / "nested_cv" / "llm_agents.parquet"
"""The one file that has several methods, and none where no answers are cached."""
METRICS = sorted((REPOSITORY / "data" / "metrics").rglob("*.json"))
DICTIONARY = [
    (row["path"], row["key"])
    for row in csv.DictReader((REPOSITORY / "data/files.csv").open(encoding="utf-8"))
]
KEYS_OF_TABLES = [
    (path, key)
    for path, key in DICTIONARY
    if path.startswith(("data/plots/", "data/measurements/")) and "<" not in path
]
"""Each file of points or measurements with its key, as data/files.csv says."""
SHARED_STUDIES = ("nested_cv", "across_architectures")
"""Folders of predictions that many studies read; the others belong to the study of their name."""


def key_columns(predictions: pl.DataFrame) -> list[str]:
    """What a study adds to the key of predictions, such as the signals that a method sees."""
    return [name for name in predictions.columns if name not in PREDICTION_SCHEMA]


@cache
def answers_in(path: Path) -> pl.DataFrame:
    """The answers in a file, which every rule below is held against."""
    return pl.read_parquet(path)


def name_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    return pl.read_parquet(REPOSITORY / "data" / "telemetry" / "runs.parquet")


@pytest.fixture(scope="module")
def splits() -> pl.DataFrame:
    return pl.read_parquet(REPOSITORY / "data" / "features" / "splits.parquet")


@pytest.fixture(scope="module")
def failing(runs: pl.DataFrame) -> pl.DataFrame:
    """The failing runs of the studies: one optimizer and scale."""
    study = PARAMS["across_architectures"]
    return runs.filter(
        pl.col("kind") == "failure",
        pl.col("optimizer") == study["optimizer"],
        pl.col("scale") == study["scale"],
    )


def test_all_runs_were_recorded_on_one_corpus_with_one_set_of_versions(runs: pl.DataFrame) -> None:
    provenance = runs.select(PROVENANCE).unique()
    assert provenance.height == 1, provenance


def test_every_run_but_those_with_a_remedy_has_a_row_of_features(runs: pl.DataFrame) -> None:
    features = pl.read_parquet(REPOSITORY / "data" / "features" / "features.parquet")
    expected = runs.filter(pl.col("kind") != "remedy")["run_id"]
    assert sorted(features["run_id"]) == sorted(expected)


def test_only_the_planted_leak_tells_the_category_without_a_failure() -> None:
    path = REPOSITORY / "data" / "metrics" / "controls.json"
    controls = json.loads(path.read_text(encoding="utf-8"))
    verdicts = {
        name: control["verdict"] for name, control in controls.items() if "verdict" in control
    }
    assert verdicts.pop("planted_leak") == "fail"
    assert set(verdicts.values()) == {"pass"}, verdicts
    raw = controls["raw_twins"]
    assert raw["ci_low"] <= CHANCE <= raw["ci_high"] <= PARAMS["controls"]["upper_bound"]


def test_every_scenario_is_tested_once_a_repeat(splits: pl.DataFrame, runs: pl.DataFrame) -> None:
    assert splits.schema == SPLIT_SCHEMA
    assert splits["repeat"].n_unique() == PARAMS["features"]["repeats"]
    scenarios = sorted(runs["scenario"].drop_nulls().unique())
    for _, part in splits.group_by("repeat"):
        assert sorted(part["scenario"]) == scenarios


@pytest.mark.parametrize("path", PREDICTIONS, ids=name_of)
def test_predictions_have_their_schema_and_no_key_twice(path: Path) -> None:
    table = answers_in(path)
    assert table.select(PREDICTION_SCHEMA.names()).schema == PREDICTION_SCHEMA
    key = KEY + key_columns(table)
    methods = set(PARAMS["llm_agents"]["models"]) if path == LANGUAGE_MODELS else {path.stem}
    assert set(table["method"]) <= methods
    assert table.height or path == LANGUAGE_MODELS
    assert not table.select(key).is_duplicated().any()
    if path.parent.name in SHARED_STUDIES:
        assert table.equals(table.sort(key))


@pytest.mark.parametrize("path", PREDICTIONS, ids=name_of)
def test_an_answer_is_the_first_of_the_largest_probabilities_which_add_up_to_one(
    path: Path,
) -> None:
    """So no answer rests on digits that are not stored."""
    table = answers_in(path)
    names = [f"p_{category}" for category in CATEGORIES]
    stored = table.drop_nulls(names)
    assert stored.height in {table.height, 0}  # the controls ask for answers alone
    assert (abs(stored.select(names).to_numpy().sum(axis=1) - 1) < 1e-5).all()
    answered = stored.filter(pl.col("prediction") != ABSTAIN)
    expected = most_probable(answered.select(names).to_numpy()).tolist()
    assert answered["prediction"].to_list() == expected
    assert table["confidence"].is_between(0, 1).all()
    assert set(table["prediction"]) <= {*CATEGORIES, ABSTAIN}
    assert ((table["prediction"] == ABSTAIN) == table["reason"].is_not_null()).all()


MAIN = [path for path in PREDICTIONS if path.parent.name in SHARED_STUDIES]


@pytest.mark.parametrize("path", MAIN, ids=name_of)
def test_every_run_of_a_study_is_predicted_in_every_repeat(
    path: Path, failing: pl.DataFrame
) -> None:
    reference, across = PARAMS["nested_cv"], PARAMS["across_architectures"]
    watched = failing.filter(pl.col("seed").is_in(across["monitored_seeds"]))
    asks_monitor = path.stem in (*MONITOR_METHODS, ON_INVARIANTS)
    all_runs = set((watched if asks_monitor else failing)["run_id"])
    of_seed = failing.filter(pl.col("seed") == across["known_seed"])
    main = failing.filter(
        pl.col("architecture") == reference["architecture"],
        pl.col("seed").is_in(reference["run_seeds"]),
    )
    expected = {
        NESTED_CV: set(main["run_id"]),
        POOLED: all_runs,
        LEFT_OUT: all_runs,
        KNOWN_SCENARIOS: set(of_seed["run_id"]),
    }
    table = answers_in(path)
    for (study, *_), part in table.group_by("study", "feature_set", "method", "repeat"):
        assert set(part["run_id"]) == expected[study]
        assert part.height == len(expected[study])


OF_STUDIES = [path for path in PREDICTIONS if path.parent.name not in SHARED_STUDIES]


@pytest.mark.parametrize("path", OF_STUDIES, ids=name_of)
def test_a_study_predicts_the_same_runs_in_every_repeat(path: Path) -> None:
    table = answers_in(path)
    condition = ["study", "feature_set", *key_columns(table)]
    sizes = table.group_by(*condition, "repeat").agg(pl.len())
    same = sizes.group_by(condition).agg(pl.col("len").n_unique())
    assert set(same["len"]) == {1}


@pytest.mark.parametrize("path", PREDICTIONS, ids=name_of)
def test_runs_are_tested_in_the_fold_that_the_splits_say(path: Path, splits: pl.DataFrame) -> None:
    by_fold = answers_in(path).filter(pl.col("study").is_in([NESTED_CV, POOLED]))
    joined = by_fold.join(splits, on=["repeat", "fold", "scenario"], how="semi")
    assert joined.height == by_fold.height


def groups_of(value: dict[str, object], path: str = "") -> Iterator[tuple[str, dict[str, object]]]:
    """The scalars of every mapping of a metrics file, by its path."""
    inner = {key: item for key, item in value.items() if isinstance(item, dict)}
    if scalars := {key: item for key, item in value.items() if key not in inner}:
        yield path, scalars
    for key, item in inner.items():
        yield from groups_of(item, f"{path}.{key}")


@pytest.mark.parametrize("path", METRICS, ids=name_of)
def test_metrics_are_rounded_scalars_inside_their_intervals(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    metrics = json.loads(text)
    assert text == json.dumps(metrics, indent=2, sort_keys=True) + "\n"
    groups = list(groups_of(metrics))
    assert groups
    for place, scalars in groups:
        for key, scalar in scalars.items():
            assert isinstance(scalar, bool | int | float | str), f"{place}.{key} is no scalar"
            assert not isinstance(scalar, float) or scalar == round(scalar, 6), f"{place}.{key}"
        if {"value", "ci_low", "ci_high"} <= scalars.keys():
            low, value, high = (scalars[key] for key in ("ci_low", "value", "ci_high"))
            assert low <= high, place
            assert "n" in scalars, place
            if "floor" not in place:
                assert low - 1e-6 <= value <= high + 1e-6, place


@pytest.mark.parametrize(("path", "key"), KEYS_OF_TABLES)
def test_the_key_in_the_dictionary_says_what_a_row_is(path: str, key: str) -> None:
    file = REPOSITORY / path
    csv_file = file.suffix == ".csv"
    table = pl.read_csv(file, infer_schema_length=None) if csv_file else pl.read_parquet(file)
    columns = key.split(", ")
    assert set(columns) <= set(table.columns)
    assert not table.select(columns).is_duplicated().any()


def test_no_language_model_is_measured_without_its_answers() -> None:
    metrics = json.loads((REPOSITORY / "data/metrics/llm_agents.json").read_text(encoding="utf-8"))
    assert set(metrics) == set(PARAMS["llm_agents"]["models"])
    available = {label for label, entry in metrics.items() if entry["available"]}
    assert set(pl.read_parquet(LANGUAGE_MODELS)["method"]) == available
    cached = {path.stem for path in (REPOSITORY / "data/llm").glob("*.jsonl")}
    assert available <= cached
    for label in set(metrics) - available:
        assert set(metrics[label]) == {"available", "answered", "runs"}
