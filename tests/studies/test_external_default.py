import numpy as np
import pandas as pd
import polars as pl
import pytest

from external_default import estimates
from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.neighbours import external
from failbench.statistics.intervals import wilson
from measure_external_default import Preparation, measure
from pipeline import REPOSITORY
from shared import external_default as study
from study_settings import SIMPLE_RULES

RUNS = 12
"""Of a session."""

COLUMNS = {
    "train_loss": ("training", "both", "max_loss"),
    "gradient_max": ("training", "both", "max_gradient_norm"),
    "oscillation": ("training", "second", ""),
    "cpu": ("host", "both", ""),
    "memory": ("host", "both", ""),
}
NOTES = tuple(
    external.ColumnNote(column=column, part=part, levels=levels, feature=feature, why=".")
    for column, (part, levels, feature) in COLUMNS.items()
)
PRINTED_FIGURES = tuple(
    external.PrintedFigure(table=name, metric="accuracy", value=0.9, place="Table 0")
    for name in (external.DETECTION, "category", *external.POSITIVES)
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
                external.LABEL: [label] * RUNS,
            }
        )
        for number, label in enumerate(labels)
    ]
    return pl.concat(parts)


@pytest.fixture(scope="module")
def tables() -> external.ReleasedTables:
    """Detection of 16 sessions and six crashed runs, and seven categories of four sessions."""
    rng = np.random.default_rng(0)
    detection = sessions([external.BUGGY, external.CORRECT] * 8, rng).drop("oscillation")
    empty = pl.DataFrame(
        {external.LABEL: [external.CORRECT] * 6}, schema={external.LABEL: pl.String()}
    )
    detection = pl.concat([detection, empty], how="diagonal").select(detection.columns)
    positives = {
        name: sessions([label] * 4, rng).with_columns(cpu=pl.col("cpu") + 100 * number)
        for number, (name, label) in enumerate(external.POSITIVES.items())
    }
    tables = {external.DETECTION: detection}
    for name, own in positives.items():
        others = (part.head(8) for other, part in positives.items() if other != name)
        tables[name] = pl.concat([own, *others])
    return external.ReleasedTables(tables, NOTES, PRINTED_FIGURES)


@pytest.fixture(scope="module")
def small() -> study.ExternalDefaultSettings:
    """The settings of the pipeline, with fewer groups and trees."""
    shared = {"resamples": 1000, "confidence": 0.95}
    params = REPOSITORY / "params.yaml"
    whole = read_section("external_default", study.ExternalDefaultSettings, params, shared=shared)
    few = {"lightgbm": {"trees": 3}, "ebm": {"max_rounds": 2}, "random_forest": {"trees": 3}}
    methods = {
        name: getattr(whole.methods, name).model_copy(update=each) for name, each in few.items()
    }
    changes = {
        "folds": 2,
        "groups": 16,
        "other_groups": (8,),
        "trees": 5,
        "printed": whole.printed.model_copy(
            update={"trees": (5,), "selection_trees": 5, "selected": 3}
        ),
        "methods": whole.methods.model_copy(update=methods),
    }
    return whole.model_copy(update=changes)


@pytest.fixture(scope="module")
def measured(tables, small):
    return measure(tables, small, SIMPLE_RULES)


@pytest.mark.parametrize("task", [external.DETECTION, study.CATEGORY])
def test_the_host_tells_the_label_only_while_sessions_are_on_both_sides(
    measured, tables, small, task
):
    def accuracy(protocol):
        key = {"protocol": protocol, "columns": "host", "method": study.THEIR_FOREST}
        rows = measured[0].filter(**key, task=task)
        return (
            rows["answer"] == study.tasks_of(tables)[task].labels[rows["row"].to_numpy()]
        ).mean()

    assert accuracy(study.SHUFFLED) > 0.8
    assert accuracy(f"clusters_{small.groups}") < accuracy(study.SHUFFLED) - 0.2


def test_other_rows_are_prepared_by_those_that_it_was_fitted_to():
    fitted = Preparation().fit(pd.DataFrame({"a": [0.0, 10.0]}))
    other = fitted.transform(pd.DataFrame({"a": [-5.0, np.nan, np.inf, 500.0]}))
    assert other["a"].tolist() == pytest.approx([0.1, 5.0, 9.9, 9.9])


FOREST = {"task": external.DETECTION, "columns": "all"}
FOREST |= {"protocol": study.SHUFFLED, "method": study.THEIR_FOREST}


def of_groups(numbers, groups=16):
    key = {"task": external.DETECTION, "grouping": "blocks", "groups": groups}
    return pl.DataFrame(
        {**key, "row": range(len(numbers)), "group": numbers}, schema=study.GROUP_SCHEMA
    )


def of_answers(named):
    rows = {**FOREST, "row": range(len(named)), "answer": named}
    return pl.DataFrame(rows, schema=study.ANSWER_SCHEMA)


def row_of(table, **key):
    (row,) = table.filter(**FOREST | {"metric": "accuracy"} | key).to_dicts()
    return row


def test_intervals_count_groups_and_not_rows(tables, small):
    truth = tables.detection[external.LABEL].to_list()
    wrong = {external.BUGGY: external.CORRECT, external.CORRECT: external.BUGGY}
    numbers = [number * 16 // len(truth) for number in range(len(truth))]
    together = [wrong[name] if numbers[row] < 8 else name for row, name in enumerate(truth)]
    apart = [name if row % 2 else wrong[name] for row, name in enumerate(truth)]
    whole, mixed, right = (
        row_of(estimates(of_answers(named), of_groups(numbers), tables, small))
        for named in (together, apart, truth)
    )
    assert whole["ci_high"] - whole["ci_low"] > 5 * (mixed["ci_high"] - mixed["ci_low"])
    low, _ = wilson(1.0, 16, small.confidence)
    assert (right["value"], right["ci_low"], right["ci_high"]) == (1.0, pytest.approx(low), 1.0)
    # a row without a group, and groups that the settings do not name
    for groups in (of_groups([0] * 50 + [1] * 50), of_groups([0, 1] * (len(truth) // 2), 7)):
        with pytest.raises(BadInputError, match="has no group"):
            estimates(of_answers(truth), groups, tables, small)
