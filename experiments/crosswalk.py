"""Stage crosswalk: every accuracy that is printed of two methods, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.predictions import PREDICTION_SCHEMA
from failbench.reporting.cells import ABSENT
from failbench.reporting.labels import method_label
from failbench.reporting.table import Column, Table
from failbench.stage import read_output, read_points
from failbench.study import Captions, estimate_text, publish_study, run, written

POINTS = Path("data/plots")
PREDICTIONS = Path("data/predictions")

RULES, FOREST = "improved_rules", "random_forest"
METHODS = (RULES, FOREST)
"""The methods that most studies ask."""

FOLDERS = {"intervals": NESTED_CV, "generalization": "across_architectures"}
"""Folders of predictions that are not called as the study's points."""

KEY_TYPES = {"noise": pl.Float64(), "steps": pl.Int64(), "steps_ahead": pl.Int32()}
"""Types of key columns that hold no names."""


@dataclass(frozen=True)
class Condition:
    """One place where accuracies are printed, and under what they were measured.

    ``points`` and ``keys`` name a file and its rows; ``prediction_keys`` the predictions that these
    are of, where other keys choose them.
    """

    study: str
    reason: str
    points: str
    keys: Mapping[str, object]
    prediction_keys: Mapping[str, object] | None = None
    features: str = "19"
    folds: str = "by scenario"
    searched: bool = True
    methods: tuple[str, ...] = METHODS
    value: str = "value"

    @property
    def predictions(self) -> str:
        """The folder of its predictions."""
        return FOLDERS.get(self.points, self.points)

    def rows_of(self, points: pl.DataFrame) -> pl.DataFrame:
        """Its rows among a study's points."""
        rows = points.filter(**self.keys)
        return rows.filter(metric="accuracy") if self.value == "value" else rows

    def answers(self, predictions: pl.DataFrame) -> pl.DataFrame:
        """Its rows among predictions."""
        return predictions.filter(**(self.prediction_keys or self.keys))


HOME, KEYWORDS = {"feature_set": "19"}, {"feature_set": "19+keywords"}
RECORDED = {"thresholds": "reference", "noise": 0.0, "architecture": "transformer"}
MEMORY = {"kind": "group", "name": "memory"}
TREND = {"feature_set": "19+keywords+trend"}

CONDITIONS = (
    Condition("Main study", "the reference of this table", "intervals", HOME),
    Condition(
        "Main study",
        "keywords of the error text, which rules always read",
        "intervals",
        KEYWORDS,
        features="19 + keywords",
    ),
    Condition(
        "All architectures",
        "more runs to learn from, and to be asked",
        "generalization",
        {"study": POOLED, **HOME},
    ),
    Condition(
        "Architecture left out",
        "learns from other architectures alone",
        "generalization",
        {"study": LEFT_OUT, **HOME},
        folds="by scenario and architecture",
    ),
    Condition(
        "Known scenarios",
        "has seen the scenario on other architectures",
        "generalization",
        {"study": KNOWN_SCENARIOS, **HOME},
        folds="by architecture",
    ),
    Condition(
        "Architectures, as recorded",
        "the runs of the main study, by fits of it; a noisy log is another",
        "architectures",
        {"study": "rules", **RECORDED},
        RECORDED,
        methods=(RULES,),
    ),
    Condition(
        "Lead time, at the failure",
        "one seed, trained on and asked; does not see the number of steps",
        "lead_time",
        {"steps": 0},
        {"subset": "failing", "steps_ahead": 0},
        features="19 without steps",
        searched=False,
    ),
    Condition(
        "Ablation, all signals",
        "the first repeats alone",
        "ablation",
        {"subset": "all", **HOME},
        searched=False,
    ),
    Condition(
        "Ablation, all signals",
        "the first repeats alone",
        "ablation",
        {"subset": "all", **KEYWORDS},
        features="19 + keywords",
        searched=False,
        methods=(FOREST,),
    ),
    *(
        Condition(
            "Importance, intact runs",
            "the first repeats alone",
            "importance",
            feature_set | MEMORY,
            feature_set,
            features=features,
            methods=(FOREST,),
            value="accuracy",
        )
        for features, feature_set in (("19", HOME), ("19 + keywords + trend", TREND))
    ),
    Condition(
        "Portability, at home",
        "the scenarios that both optimizers have",
        "portability",
        {"condition": "home"},
        searched=False,
    ),
    Condition(
        "Sensitivity, one run per scenario",
        "one seed, trained on and asked: the paper's form",
        "sensitivity",
        {"variant": "one_seed"},
        {"study": "one_seed"},
    ),
    Condition(
        "Sensitivity, folds by fault",
        "no scenario of the same fault to learn from",
        "sensitivity",
        {"variant": "faults_apart"},
        {"study": "faults_apart"},
        folds="by fault",
        methods=(FOREST,),
    ),
)
"""In the order of the table."""


def points_schema(points: str) -> pl.Schema:
    """What is read of a file of points: the keys that choose rows, and the accuracy."""
    conditions = [condition for condition in CONDITIONS if condition.points == points]
    keys = {"method"}.union(*(condition.keys for condition in conditions))
    values = {condition.value for condition in conditions}
    if "value" in values:
        keys, values = keys | {"metric"}, values | {"ci_low", "ci_high"}
    return pl.Schema({**types_of(keys), **dict.fromkeys(values, pl.Float64()), "n": pl.Int64()})


def predictions_schema(folder: str) -> pl.Schema:
    """What is read of a folder of predictions: their schema, and the keys that choose rows."""
    conditions = [condition for condition in CONDITIONS if condition.predictions == folder]
    keys = set().union(*(condition.prediction_keys or condition.keys for condition in conditions))
    return pl.Schema({**types_of(keys - {*PREDICTION_SCHEMA}), **PREDICTION_SCHEMA})


def types_of(names: set[str]) -> dict[str, pl.DataType]:
    return {name: KEY_TYPES.get(name, pl.String()) for name in sorted(names)}


COLUMNS = (
    *(Column(heading, align="left") for heading in ("Method", "Study", "Features", "Folds")),
    *(Column(heading) for heading in ("Repeats", "Seeds", "Runs", "Search", "Accuracy", "n")),
    Column("Less main"),
    Column("What differs", align="left"),
)


def accuracies(
    points: Mapping[str, pl.DataFrame], predictions: Mapping[tuple[str, str], pl.DataFrame]
) -> Iterator[tuple[str, ...]]:
    """Every accuracy of the two methods; the first of a method is that of the main study."""
    for method in METHODS:
        main = None
        for condition in CONDITIONS:
            if method not in condition.methods:
                continue
            of_points = points[condition.points].filter(method=method)
            answers = condition.answers(predictions[condition.predictions, method])
            row = accuracy_row(method, condition, of_points, answers)
            main = row["value"] if main is None else main
            # folds are numbered anew in each repeat
            first = answers.filter(pl.col("repeat") == pl.col("repeat").min())
            searched = "yes" if condition.searched else "no"
            yield (
                method_label(method),
                condition.study,
                condition.features,
                f"{first['fold'].n_unique()} {condition.folds}",
                *(str(answers[key].n_unique()) for key in ("repeat", "seed", "run_id")),
                ABSENT if method == RULES else searched,
                estimate_text(row),
                str(row["n"]),
                written(row["value"] - main, "points"),
                condition.reason,
            )


def accuracy_row(
    method: str, condition: Condition, points: pl.DataFrame, answers: pl.DataFrame
) -> dict[str, Any]:
    """The one accuracy that a condition chooses."""
    chosen = condition.rows_of(points)
    if chosen.height != 1 or answers.is_empty():
        raise BadInputError(
            POINTS / f"{condition.points}.csv",
            "metric",
            f"has {chosen.height} accuracies of {method} for {condition.study}, and there are "
            f"{answers.height} predictions.",
            f"Run `dvc repro {condition.points}`.",
        )
    row = chosen.row(0, named=True)
    return {**row, "value": row[condition.value]}


def main() -> None:
    points = {
        name: read_points(POINTS / f"{name}.csv", points_schema(name))
        for name in dict.fromkeys(condition.points for condition in CONDITIONS)
    }
    predictions = {
        (condition.predictions, method): read_output(
            PREDICTIONS / condition.predictions / f"{method}.parquet",
            predictions_schema(condition.predictions),
        )
        for condition in CONDITIONS
        for method in condition.methods
    }
    said = Captions.read("crosswalk")
    rows = tuple(accuracies(points, predictions))
    caption, notes = said.caption("crosswalk"), said.notes("crosswalk")
    publish_study(
        "crosswalk",
        tables=[Table("crosswalk", COLUMNS, rows, caption, notes)],
        summary=pl.DataFrame(rows, [column.heading for column in COLUMNS], orient="row"),
    )


if __name__ == "__main__":
    run(main)
