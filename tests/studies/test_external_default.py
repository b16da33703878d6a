from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from external_default import estimates
from failbench.base.errors import BadInputError
from failbench.base.method_settings import SimpleRulesSettings
from failbench.base.params import read_section
from failbench.features.feature import CEILING
from failbench.neighbours.external import (
    BUGGY,
    CORRECT,
    DETECTION,
    LABEL,
    POSITIVES,
    ColumnNote,
    PrintedFigure,
    ReleasedTables,
    our_features,
    simple_answers,
)
from failbench.statistics.intervals import wilson
from measure_external_default import (
    Preparation,
    groups_of,
    host_clusters,
    measure,
)
from pipeline import REPOSITORY
from shared.external_default import (
    ANSWER_SCHEMA,
    CATEGORY,
    GROUP_SCHEMA,
    SHUFFLED,
    THEIR_FOREST,
    ExternalDefaultSettings,
    tasks_of,
)

RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)

RUNS = 12
"""Of a session."""

NOTES = (
    ColumnNote(column="train_loss", part="training", levels="both", feature="max_loss", why="."),
    ColumnNote(
        column="gradient_max", part="training", levels="both", feature="max_gradient_norm", why="."
    ),
    ColumnNote(column="oscillation", part="training", levels="second", feature="", why="."),
    ColumnNote(column="cpu", part="host", levels="both", feature="", why="."),
    ColumnNote(column="memory", part="host", levels="both", feature="", why="."),
)
PRINTED_FIGURES = tuple(
    PrintedFigure(table=name, metric="accuracy", value=0.9, place="Table 0")
    for name in (DETECTION, "category", *POSITIVES)
)


def sessions(labels: list[str], rng: np.random.Generator) -> pl.DataFrame:
    """A session a label: its runs have nearly the host of one another, and noise else."""
    parts = [
        pl.DataFrame(
            {
                "train_loss": rng.normal(1.0, 0.1, RUNS),
                "gradient_max": rng.normal(5.0, 1.0, RUNS),
                "oscillation": rng.normal(size=RUNS),
                "cpu": 10.0 * number + rng.normal(0.0, 0.1, RUNS),
                "memory": 7.0 * (number % 5) + rng.normal(0.0, 0.1, RUNS),
                LABEL: [label] * RUNS,
            }
        )
        for number, label in enumerate(labels)
    ]
    return pl.concat(parts)


@pytest.fixture(scope="module")
def tables() -> ReleasedTables:
    """Detection of 16 sessions and six crashed runs, and seven categories of four sessions."""
    rng = np.random.default_rng(0)
    detection = sessions([BUGGY, CORRECT] * 8, rng).drop("oscillation")
    empty = pl.DataFrame({LABEL: [CORRECT] * 6}, schema={LABEL: pl.String()})
    detection = pl.concat([detection, empty], how="diagonal").select(detection.columns)
    positives = {
        name: sessions([label] * 4, rng).with_columns(cpu=pl.col("cpu") + 100 * number)
        for number, (name, label) in enumerate(POSITIVES.items())
    }
    tables = {DETECTION: detection}
    for name, own in positives.items():
        others = (part.head(8) for other, part in positives.items() if other != name)
        tables[name] = pl.concat([own, *others])
    return ReleasedTables(tables, NOTES, PRINTED_FIGURES)


@pytest.fixture(scope="module")
def small() -> ExternalDefaultSettings:
    """The settings of the pipeline, with fewer groups and trees."""
    whole = read_section(
        "external_default",
        ExternalDefaultSettings,
        REPOSITORY / "params.yaml",
        shared={"resamples": 1000, "confidence": 0.95},
    )
    methods = whole.methods
    few = {
        "lightgbm": methods.lightgbm.model_copy(update={"trees": 3}),
        "ebm": methods.ebm.model_copy(update={"max_rounds": 2}),
        "random_forest": methods.random_forest.model_copy(update={"trees": 3}),
    }
    printed = whole.printed.model_copy(update={"trees": (5,), "selection_trees": 5, "selected": 3})
    changes = {"folds": 2, "groups": 16, "other_groups": (8,), "trees": 5, "printed": printed}
    return whole.model_copy(update={**changes, "methods": methods.model_copy(update=few)})


@pytest.fixture(scope="module")
def both(tables, small):
    return measure(tables, small, RULES)


@pytest.fixture(scope="module")
def measured(both):
    return both[0]


@pytest.fixture(scope="module")
def groups(tables):
    return groups_of(tasks_of(tables), tables, (16, 8), folds=5, seed=0)


def test_runs_of_a_session_are_one_cluster(tables):
    task = tasks_of(tables)[DETECTION]
    clusters = host_clusters(task, 16, seed=0)[~task.crashed].reshape(16, RUNS)
    assert (clusters == clusters[:, :1]).mean() > 0.9
    assert len(np.unique(clusters)) == 16


def test_a_run_has_one_group_whichever_table_it_stands_in(tables, groups):
    known = tables.categories.with_row_index("known").join(
        groups.filter(task=CATEGORY, groups=16).with_columns(known=pl.col("row").cast(pl.UInt32)),
        on="known",
    )
    for name in POSITIVES:
        table = tables.tables[name].with_row_index("row").with_columns(pl.col("row").cast(pl.Int32))
        rows = table.join(groups.filter(task=name), on="row")
        same = rows.join(known, on=[*tables.categories.columns, "grouping"], suffix="_known")
        assert same.height == 2 * table.height
        assert (same["group"] == same["group_known"]).all()


def test_a_negative_that_is_no_positive_elsewhere_is_refused(tables):
    strange = tables.tables["loss"].with_columns(
        cpu=pl.when(pl.col("label") == "Weight").then(-1.0).otherwise("cpu")
    )
    other = replace(tables, tables={**tables.tables, "loss": strange})
    with pytest.raises(BadInputError, match=r"tables/loss\.parquet"):
        groups_of(tasks_of(other), other, (16,), folds=5, seed=0)


def accuracy(measured, tables, **key):
    rows = measured.filter(**{"method": THEIR_FOREST, **key})
    labels = tasks_of(tables)[key["task"]].labels[rows["row"].to_numpy()]
    return (rows["answer"].to_numpy() == labels).mean()


@pytest.mark.parametrize("task", [DETECTION, CATEGORY])
def test_the_host_tells_the_label_only_while_sessions_are_on_both_sides(
    measured, tables, small, task
):
    shuffled = accuracy(measured, tables, task=task, protocol=SHUFFLED, columns="host")
    key = {"task": task, "protocol": f"clusters_{small.groups}", "columns": "host"}
    assert shuffled > 0.8
    assert accuracy(measured, tables, **key) < shuffled - 0.2


def test_other_rows_are_prepared_by_those_that_it_was_fitted_to():
    fitted = Preparation().fit(pd.DataFrame({"a": [0.0, 10.0]}))
    other = fitted.transform(pd.DataFrame({"a": [-5.0, np.nan, np.inf, 500.0]}))
    assert other["a"].tolist() == pytest.approx([0.1, 5.0, 9.9, 9.9])


FOREST = {"task": DETECTION, "protocol": SHUFFLED, "columns": "all", "method": THEIR_FOREST}


def of_groups(numbers, groups=16):
    return pl.DataFrame(
        {
            "task": DETECTION,
            "grouping": "blocks",
            "groups": groups,
            "row": range(len(numbers)),
            "group": numbers,
        },
        schema=GROUP_SCHEMA,
    )


def row_of(table, **key):
    return table.row(
        by_predicate=pl.all_horizontal(pl.col(k) == v for k, v in key.items()), named=True
    )


def of_answers(named, **changed):
    key = {**FOREST, **changed}
    return pl.DataFrame({**key, "row": range(len(named)), "answer": named}, schema=ANSWER_SCHEMA)


@pytest.fixture(scope="module")
def truth(tables):
    return tables.detection[LABEL].to_list()


def test_intervals_are_wider_where_a_group_is_right_or_wrong_as_a_whole(tables, small, truth):
    wrong = {BUGGY: CORRECT, CORRECT: BUGGY}
    groups = np.arange(len(truth)) * 16 // len(truth)
    together = [
        wrong[name] if group < 8 else name for name, group in zip(truth, groups, strict=True)
    ]
    apart = [name if row % 2 else wrong[name] for row, name in enumerate(truth)]
    widths = []
    for named in (together, apart):
        table = estimates(of_answers(named), of_groups(groups.tolist()), tables, small)
        row = row_of(table, metric="accuracy", **FOREST)
        widths.append(row["ci_high"] - row["ci_low"])
    assert widths[0] > 5 * widths[1]


def test_where_all_are_right_the_interval_is_wilsons_over_groups(tables, small, truth):
    numbers = [number * 16 // len(truth) for number in range(len(truth))]
    table = estimates(of_answers(truth), of_groups(numbers), tables, small)
    row = row_of(table, metric="accuracy", **FOREST)
    low, _ = wilson(1.0, 16, small.confidence)
    assert (row["value"], row["ci_high"]) == (1.0, 1.0)
    assert row["ci_low"] == pytest.approx(low)


def test_a_difference_is_that_of_the_accuracies_on_the_same_folds(both, tables, small):
    table = estimates(*both, tables, small)
    key = {**FOREST, "method": "ebm"}
    ours, theirs = (row_of(table, metric="accuracy", **each)["value"] for each in (key, FOREST))
    assert row_of(table, metric="difference", **key)["value"] == pytest.approx(ours - theirs)
    assert table.filter(metric="difference", method=THEIR_FOREST).is_empty()


def test_a_row_without_a_group_is_refused(tables, small, truth):
    groups = of_groups([0] * 50 + [1] * 50)
    with pytest.raises(BadInputError, match="has no group"):
        estimates(of_answers(truth), groups, tables, small)


def test_answers_of_other_groups_than_the_settings_say_are_refused(tables, small, truth):
    groups = of_groups([0, 1] * (len(truth) // 2), groups=7)
    with pytest.raises(BadInputError, match="has no group"):
        estimates(of_answers(truth), groups, tables, small)


def test_what_is_not_finite_counts_as_the_ceiling_and_what_has_no_column_is_missing():
    rows = pd.DataFrame({"train_loss": [1.0, np.nan, np.inf], "gradient_max": [1.0, 2e9, 3.0]})
    features = our_features(rows, NOTES)
    assert features["max_loss"].tolist() == [1.0, CEILING, CEILING]
    assert features["max_gradient_norm"].tolist() == [1.0, CEILING, 3.0]
    assert features["oov_rate"].isna().all()
    assert set(features["error_message"]) == {""}


def answers(trained, labels, tested):
    features = [
        our_features(pd.DataFrame(rows, columns=["train_loss", "gradient_max"]), NOTES)
        for rows in (trained, tested)
    ]
    labels = np.array(labels, dtype=object)
    return simple_answers(features[0], labels, features[1], RULES).tolist()


def test_a_loss_beyond_that_of_correct_training_runs_is_buggy():
    trained = [(1.0, 1.0), (1.2, 1.0), (0.8, 1.0), (50.0, 1.0)]
    labels = [CORRECT, CORRECT, CORRECT, BUGGY]
    tested = [(1.7, 1.0), (1.5, 1.0)]
    assert answers(trained, labels, tested) == [BUGGY, CORRECT]
    assert answers(trained, [CORRECT] * 4, tested) == [CORRECT, CORRECT]
