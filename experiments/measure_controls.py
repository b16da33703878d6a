"""Stage measure_controls: answers from what must not tell the label, and with planted labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold

from failbench.base import measuring as st
from failbench.base.telemetry import RUN_SCHEMA
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import feature_table, raw_table, read_features
from failbench.features.observables import STEP_TIMES, measurements
from failbench.methods.forest import Forest
from failbench.methods.raw_telemetry import RawTelemetrySettings
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import by_scenario
from recordings import read_recordings
from shared import controls as design
from shared.controls import ControlDesign
from shared.raw_telemetry import raw_predictions

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
AUTHOR_B = (Path("data/author_b/telemetry"), Path("data/author_b/scenarios"))
PREDICTIONS = Path("data/predictions/controls")
MEASUREMENTS = Path("data/measurements/controls")

STUDY = "controls"
KEYS = ("run_id", "scenario", "category")
"""What says of a row which run it is, and is no column that a control looks at."""

NOMINAL_COLUMNS = (
    *(name for name in RUN_SCHEMA if name.startswith("nominal_")),
    *("planned_steps", "capacity_multiple"),
)
"""The numbers drawn for each run; ``distractor``, a name, becomes a column per value."""

PLANTED_SHIFT = 4
"""Sequences a batch by which the planted leak sets neighbouring categories apart."""

TREE = st.DecisionTreeSettings(inner_folds=3, max_depth=(4,), min_samples_leaf=(1,))
"""Deep enough to part five labels by one column, and too shallow to memorise every training run: a
tree that has memorised the tested runs answers right with either column, and would hide a leak."""

Labels = npt.NDArray[np.str_]


@dataclass(frozen=True)
class GroupedTable:
    """Columns of runs that are held against the label of their scenario."""

    matrix: st.Array
    run_ids: tuple[str, ...]
    scenarios: tuple[str, ...]
    categories: tuple[str, ...]
    members: npt.NDArray[np.intp]

    @classmethod
    def of(cls, table: pl.DataFrame, columns: tuple[str, ...]) -> GroupedTable:
        """Columns of a table per run with ``run_id``, ``scenario`` and ``category``."""
        owners = table.select("scenario", "category").unique().sort("scenario")
        scenarios = tuple(owners["scenario"])
        members = np.searchsorted(np.array(scenarios), table["scenario"].to_numpy().astype(str))
        matrix = table.select(pl.col(columns).cast(pl.Float64)).to_numpy()
        return cls(matrix, tuple(table["run_id"]), scenarios, tuple(owners["category"]), members)


def control_tables(
    telemetry: st.Telemetry, scenarios: tuple[st.Scenario, ...], settings: ControlDesign
) -> dict[str, GroupedTable]:
    """Tables of the five controls and of the planted leak, over all seeds of one slice."""
    failures = telemetry.select(settings.runs & (pl.col("kind") == "failure"))
    twins = telemetry.select(settings.runs & (pl.col("kind") == "twin"))
    step_times = (
        twins.runs.select("run_id", "scenario")
        .join(st.categories_of(scenarios), on="scenario")
        .join(measurements(twins), on="run_id")
        .sort("run_id")
    )
    nominal = nominal_configuration(failures.runs, scenarios)
    places = {category: place for place, category in enumerate(st.CATEGORIES)}
    place = pl.col("category").replace_strict(places, return_dtype=pl.Float64)
    leaked = nominal.with_columns(pl.col("nominal_batch_size") + PLANTED_SHIFT * place)
    drawn = tuple(name for name in nominal.columns if name not in KEYS)
    primary = FEATURE_SETS["19"]
    columns = {
        design.PERMUTED_LABELS: (feature_table(failures, scenarios), FEATURE_SETS["19+keywords"]),
        "before_onset": (before_onset(failures, scenarios), primary),
        "twins": (feature_table(twins, scenarios), primary),
        "twins_step_times": (step_times, STEP_TIMES),
        "nominal_configuration": (nominal, drawn),
        "planted_leak": (leaked, drawn),
    }
    return {control: GroupedTable.of(*each) for control, each in columns.items()}


def of_author_b(settings: ControlDesign) -> tuple[dict[str, GroupedTable], pl.DataFrame]:
    """The controls whose table is of recorded runs, of another author's causes, and these runs."""
    telemetry, scenarios = read_recordings(*AUTHOR_B)
    tables = control_tables(telemetry, scenarios, settings)
    return {f"{name}_b": tables[name] for name in design.OF_BOTH}, telemetry.runs


def require_categories(tables: Mapping[str, GroupedTable]) -> None:
    """Refuse controls of which one lacks a category: chance would not be one in five."""
    for control, table in tables.items():
        missing = [category for category in st.CATEGORIES if category not in table.categories]
        if missing:
            remedy = "Record scenarios of every category; chance is one in five only then."
            raise st.BadInputError("controls", control, f"has no scenario of {missing[0]}.", remedy)


def before_onset(failures: st.Telemetry, scenarios: tuple[st.Scenario, ...]) -> pl.DataFrame:
    """Features of the ``mid_run`` failures at the last step before their fault is switched on."""
    mid_run = [scenario.id for scenario in scenarios if scenario.fault.onset == "mid_run"]
    chosen = failures.select(pl.col("scenario").is_in(mid_run))
    last_steps = chosen.runs.select("run_id", last_step=pl.col("onset_step") - 1)
    return feature_table(chosen, scenarios, last_steps)


def nominal_configuration(runs: pl.DataFrame, scenarios: tuple[st.Scenario, ...]) -> pl.DataFrame:
    """What was drawn for each run, as numbers, with its keys.

    Clipping that is off counts as a threshold of zero, which no draw has.
    """
    distractors = sorted(runs["distractor"].drop_nulls().unique())
    labelled = runs.join(st.categories_of(scenarios), on="scenario", how="inner")
    return labelled.select(
        *KEYS,
        pl.col(NOMINAL_COLUMNS).cast(pl.Float64).fill_null(0.0),
        **{
            f"distractor_{name}": (pl.col("distractor") == name).cast(pl.Float64)
            for name in distractors
        },
    ).sort("scenario", *NOMINAL_COLUMNS)


def control_folds(
    table: GroupedTable, labels: Labels, settings: ControlDesign, seed: int
) -> Iterator[tuple[int, int, st.Mask]]:
    """Repeat, fold, and of each run whether it is tested there.

    Folds hold whole scenarios and are stratified by the labels at hand. They are made anew for each
    set of labels, so that a permuted set goes through all that the true one does.
    """
    splitter = RepeatedStratifiedKFold(
        n_splits=settings.folds, n_repeats=settings.repeats, random_state=seed
    )
    with warnings.catch_warnings():
        # A category may have fewer scenarios than there are folds; some folds then lack it.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(splitter.split(labels, labels))
    for index, (_, tested) in enumerate(splits):
        yield index // settings.folds, index % settings.folds, np.isin(table.members, tested)


def cross_validated_answers(
    table: GroupedTable, labels: Labels, settings: ControlDesign, seed: int
) -> Labels:
    """Out-of-fold answers ``[n_repeats, n_runs]`` of a forest for labels ``[n_scenarios]``."""
    answers = np.empty((settings.repeats, len(table.members)), dtype=labels.dtype)
    for repeat, fold, tested in control_folds(table, labels, settings, seed):
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        forest = Forest(settings.trees, random_state=seed + repeat * settings.folds + fold)
        trained: Any = labels[table.members[~tested]]
        forest.fit(imputer.fit_transform(table.matrix[~tested]), trained)
        answers[repeat, tested] = forest.predict(imputer.transform(table.matrix[tested]))
    return answers


def balanced_accuracy(table: GroupedTable, labels: Labels, answers: Labels) -> float:
    """Mean over labels of the mean over their scenarios of the share of right answers."""
    right = (answers == labels[table.members]).mean(axis=0)  # [n_runs]
    runs = np.bincount(table.members)
    by_scenario = np.bincount(table.members, weights=right) / runs
    return float(np.mean([by_scenario[labels == label].mean() for label in np.unique(labels)]))


def forest_seed(seed: int, index: int) -> int:
    """Seed of folds and trees under one permutation; index 0 is the true labelling."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0] // 2)


def control_predictions(
    tables: Mapping[str, GroupedTable], runs: pl.DataFrame, settings: ControlDesign
) -> pl.DataFrame:
    """What the forest answers for the true labels, but where only permuted ones are asked about."""
    keys = runs.select("run_id", "architecture", "optimizer", "scale", "seed")
    parts = (
        _answers(table, settings)
        .join(keys, on="run_id", how="left", maintain_order="left")
        .with_columns(control=pl.lit(control), study=pl.lit(STUDY), method=pl.lit("forest"))
        for control, table in tables.items()
        if control != design.PERMUTED_LABELS
    )
    predictions = pl.concat([design.CONTROL_SCHEMA.to_frame(), *parts], how="diagonal_relaxed")
    return predictions.cast(design.CONTROL_SCHEMA)


def _answers(table: GroupedTable, settings: ControlDesign) -> pl.DataFrame:
    """``run_id``, ``scenario``, ``category``, ``repeat``, ``fold`` and ``prediction``."""
    labels, seed = np.array(table.categories), forest_seed(settings.seed, 0)
    answers = cross_validated_answers(table, labels, settings, seed)
    scenarios = np.array(table.scenarios)[table.members]
    runs = pl.DataFrame([table.run_ids, scenarios, labels[table.members]], schema=KEYS)
    return pl.concat(
        runs.with_columns(
            repeat=pl.lit(repeat), fold=pl.lit(fold), prediction=pl.Series(answers[repeat])
        )
        .filter(tested)
        .sort("run_id")
        for repeat, fold, tested in control_folds(table, labels, settings, seed)
    )


def permuted_accuracies(
    tables: Mapping[str, GroupedTable], settings: ControlDesign, workers: int = 1
) -> pl.DataFrame:
    """How well the forest does with labels permuted over whole scenarios."""
    permutations = range(1, settings.permutations + 1)
    return pl.concat(
        pl.DataFrame(
            {
                "control": control,
                "permutation": pl.Series(permutations, dtype=pl.Int32),
                "scenarios": len(table.scenarios),
                "balanced_accuracy": st.parallel_map(
                    _permuted_accuracy,
                    [(table, settings, each) for each in permutations],
                    workers,
                ),
            }
        )
        for control, table in tables.items()
    )


def _permuted_accuracy(table: GroupedTable, settings: ControlDesign, index: int) -> float:
    rng = np.random.default_rng([settings.seed, index])
    labels = rng.permutation(np.array(table.categories))
    seed = forest_seed(settings.seed, index)
    return balanced_accuracy(table, labels, cross_validated_answers(table, labels, settings, seed))


def planted_predictions(
    failures: pl.DataFrame, successes: pl.DataFrame, splits: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Run the nested cross-validation itself with planted columns, over the folds of ``splits``."""
    places = {category: place for place, category in enumerate(st.CATEGORIES, start=1)}
    codes = pl.col("category").replace_strict(places, return_dtype=pl.Float64)
    beside_features = (*FEATURE_SETS["19"], design.PLANTED)

    def predictions(
        column: pl.Expr, folds: pl.DataFrame, columns: tuple[str, ...] = beside_features
    ) -> pl.DataFrame:
        table = failures.with_columns(column.alias(design.PLANTED))
        plans, sets = by_scenario(STUDY, folds), {design.PLANTED: columns}
        return nested_cv(table, successes, folds, "decision_tree", TREE, sets, seed, plans=plans)

    def of_tested(folds: pl.DataFrame) -> pl.Expr:
        tested = pl.col("scenario").is_in(folds["scenario"].implode())
        return pl.when(tested).then(codes).otherwise(0.0)

    labelled = [
        predictions(of_tested(fold), fold)
        for _, fold in splits.group_by("repeat", "fold", maintain_order=True)
    ]
    planted = {
        design.NOTHING: predictions(pl.lit(0.0), splits),
        design.TESTED_LABELS: pl.concat(labelled).sort(st.PREDICTION_SCHEMA.names()[:6]),
        design.ALL_LABELS: predictions(codes, splits, (design.PLANTED,)),
    }
    return pl.concat(
        answers.with_columns(pl.lit(what).alias(design.PLANTED))
        for what, answers in planted.items()
    )


def main() -> None:
    settings = st.read_section("controls", ControlDesign)
    raw = st.read_section("raw_telemetry", RawTelemetrySettings)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    features = read_features().filter(settings.runs)
    splits = st.read_splits()
    tables = control_tables(telemetry, scenarios, settings)
    others, runs = of_author_b(settings)
    tables |= others
    require_categories(tables)
    predictions = control_predictions(tables, pl.concat([telemetry.runs, runs]), settings)
    st.write_parquet(predictions, PREDICTIONS / "forest.parquet")
    permuted = permuted_accuracies(tables, settings, st.workers())
    st.write_parquet(permuted, MEASUREMENTS / "permuted_accuracies.parquet")

    failures, successes = (features.filter(kind=kind) for kind in ("failure", "success"))
    first = splits.filter(pl.col("repeat") == 0)
    planted = planted_predictions(failures, successes, first, settings.seed)
    st.write_parquet(planted, PREDICTIONS / "decision_tree.parquet")

    twins = raw_table(telemetry.select(pl.col("kind") == "twin"), scenarios).filter(settings.runs)
    # The controls proper read columns that are the same in every fold; here the method itself is
    # asked, by a fit per fold of its convolutions and its classifier, which is too slow to be
    # repeated for permuted labels.
    folds = st.first_repeats(splits, settings.repeats, "controls.repeats")
    plans, asked = by_scenario(STUDY, folds), (raw, settings.seed, st.workers())
    answers = raw_predictions(twins, successes, folds, "raw_series", *asked, plans, ("19",))
    st.write_parquet(answers, PREDICTIONS / "raw_series.parquet")


if __name__ == "__main__":
    st.run(main)
