"""Stage crosswalk: every accuracy that is printed of two methods, side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from failbench import study as st

POINTS = Path("data/plots")
PREDICTIONS = Path("data/predictions")

RULES, FOREST = "improved_rules", "random_forest"
METHODS = (RULES, FOREST)
"""The methods that most studies ask."""

FOLDERS = {"intervals": st.NESTED_CV, "generalization": "across_architectures"}
"""Folders of predictions that are not called as the study's points."""

KEY_TYPES = {"noise": pl.Float64(), "steps": pl.Int64(), "steps_ahead": pl.Int32()}
"""Types of key columns that hold no names."""


@dataclass(frozen=True)
class Condition:
    """One place where accuracies are printed, and under what they were measured.

    ``points`` and ``keys`` name a file and its rows; ``prediction_keys`` the predictions that these
    are of, where other keys choose them.
    """

    points: str
    keys: Mapping[str, object]
    prediction_keys: Mapping[str, object] | None = None
    methods: tuple[str, ...] = METHODS
    searched: bool = True
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
TREND = {"feature_set": "19+keywords+trend"}
RECORDED = {"thresholds": "reference", "noise": 0.0, "architecture": "transformer"}
LAST = {"subset": "failing", "steps_ahead": 0}
MEMORY = {"kind": "group", "name": "memory"}

CONDITIONS = {
    "main": Condition("intervals", HOME),
    "keywords": Condition("intervals", KEYWORDS),
    "pooled": Condition("generalization", {"study": st.POOLED, **HOME}),
    "left_out": Condition("generalization", {"study": st.LEFT_OUT, **HOME}),
    "known_scenarios": Condition("generalization", {"study": st.KNOWN_SCENARIOS, **HOME}),
    "architectures": Condition("architectures", {"study": "rules", **RECORDED}, RECORDED, (RULES,)),
    "lead_time": Condition("lead_time", {"steps": 0}, LAST, searched=False),
    "ablation": Condition("ablation", {"subset": "all", **HOME}, searched=False),
    "ablation_keywords": Condition(
        "ablation", {"subset": "all", **KEYWORDS}, None, (FOREST,), searched=False
    ),
    "importance": Condition("importance", HOME | MEMORY, HOME, (FOREST,), value="accuracy"),
    "importance_trend": Condition("importance", TREND | MEMORY, TREND, (FOREST,), value="accuracy"),
    "portability": Condition("portability", {"condition": "home"}, searched=False),
    "one_seed": Condition("sensitivity", {"variant": "one_seed"}, {"study": "one_seed"}),
    "faults_apart": Condition(
        "sensitivity", {"variant": "faults_apart"}, {"study": "faults_apart"}, (FOREST,)
    ),
}
"""In the order of the table; the captions say what each is called, and why it differs."""


def points_schema(points: str) -> pl.Schema:
    """What is read of a file of points: the keys that choose rows, and the accuracy."""
    conditions = [condition for condition in CONDITIONS.values() if condition.points == points]
    keys = {"method"}.union(*(condition.keys for condition in conditions))
    values = {condition.value for condition in conditions}
    if "value" in values:
        keys, values = keys | {"metric"}, values | {"ci_low", "ci_high"}
    return pl.Schema({**types_of(keys), **dict.fromkeys(values, pl.Float64()), "n": pl.Int64()})


def predictions_schema(folder: str) -> pl.Schema:
    """What is read of a folder of predictions: their schema, and the keys that choose rows."""
    conditions = [condition for condition in CONDITIONS.values() if condition.predictions == folder]
    keys = set().union(*(condition.prediction_keys or condition.keys for condition in conditions))
    return pl.Schema({**types_of(keys - {*st.PREDICTION_SCHEMA}), **st.PREDICTION_SCHEMA})


def types_of(names: set[str]) -> dict[str, pl.DataType]:
    return {name: KEY_TYPES.get(name, pl.String()) for name in sorted(names)}


def accuracies(
    points: Mapping[str, pl.DataFrame],
    predictions: Mapping[tuple[str, str], pl.DataFrame],
    said: st.Captions,
) -> Iterator[tuple[str, ...]]:
    """Every accuracy of the two methods; the first of a method is that of the main study."""
    for method in METHODS:
        main = None
        for name, condition in CONDITIONS.items():
            if method not in condition.methods:
                continue
            chosen = condition.rows_of(points[condition.points]).filter(method=method)
            answers = condition.answers(predictions[condition.predictions, method])
            if chosen.height != 1 or answers.is_empty():
                place = POINTS / f"{condition.points}.csv"
                problem = f"has {chosen.height} accuracies of {method} for {name}"
                problem += f", and there are {answers.height} predictions."
                remedy = f"Run `dvc repro {condition.points}`."
                raise st.BadInputError(place, "metric", problem, remedy)
            row = chosen.row(0, named=True)
            value = row["value"] = row[condition.value]
            main = value if main is None else main
            # folds are numbered anew in each repeat
            first = answers.filter(pl.col("repeat") == pl.col("repeat").min())
            searched = "yes" if condition.searched else "no"
            yield (
                st.method_label(method),
                said.text(name, "study"),
                said.text(name, "features"),
                f"{first['fold'].n_unique()} {said.text(name, 'folds')}",
                *(str(answers[key].n_unique()) for key in ("repeat", "seed", "run_id")),
                st.ABSENT if method == RULES else searched,
                st.estimate_text(row),
                str(row["n"]),
                st.written(value - main, "points"),
                said.text(name, "reason"),
            )


def main() -> None:
    points = {
        name: st.read_points(POINTS / f"{name}.csv", points_schema(name))
        for name in dict.fromkeys(condition.points for condition in CONDITIONS.values())
    }
    predictions = {
        (condition.predictions, method): st.read_output(
            PREDICTIONS / condition.predictions / f"{method}.parquet",
            predictions_schema(condition.predictions),
        )
        for condition in CONDITIONS.values()
        for method in condition.methods
    }
    said = st.Captions.read("crosswalk")
    shown = st.sheet("crosswalk", accuracies(points, predictions, said), said)
    headings = [column.heading for column in shown.columns]
    summary = pl.DataFrame(shown.rows, headings, orient="row")
    st.publish("crosswalk", tables=[shown], summary=summary)


if __name__ == "__main__":
    st.run(main)
