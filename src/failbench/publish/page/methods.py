"""The section of methods: what every method reaches, by text, seed and commitment."""

# Estimates over all seeds come from metrics, with intervals. What one seed alone gives is computed
# here by the same scores, without: its 76 runs are one draw of each scenario.

from collections.abc import Mapping
from functools import partial
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ANSWERS, CATEGORIES, PRIMARY_SET
from failbench.publish.page.answers import method_facts
from failbench.statistics import metrics as scores
from failbench.statistics import scenario_values as per_scenario
from failbench.statistics.scenario_values import ScenarioAnswers, scenario_answers
from failbench.study import labels
from failbench.study.paper_numbers import Reported, reported_accuracies

Estimates = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
"""Estimates by feature set, method and figure: ``value``, ``ci_low``, ``ci_high``, ``n``."""

ALL_SEEDS: Final = "all"
DECIMALS: Final = 6  # of the metrics: fewer would round a number twice before it is shown

INTERVALS: Final = "data/metrics/intervals.json"
CURVES: Final = "data/plots/risk_coverage.csv"

_TEXT, _NUMBER = pl.String(), pl.Float64()
CURVE_SCHEMA: Final = pl.Schema(  # keyed by the first three
    {"feature_set": _TEXT, "method": _TEXT, "coverage": _NUMBER, "risk": _NUMBER}
)

FIGURES: Final[Mapping[str, scores.Score]] = {  # names are those of the metrics file
    "accuracy": scores.accuracy,
    "balanced_accuracy": scores.balanced_accuracy,
    "macro_f1": scores.macro_f1,
    "abstention_rate": scores.abstention,
    **{f"f1_{name}": partial(scores.category_f1, category=name) for name in CATEGORIES},
}

COMMITTED: Final = "accuracy_when_committed"
SHOWN: Final = (*FIGURES, COMMITTED)


def methods_section(
    predictions: pl.DataFrame,
    metrics: Estimates,
    curves: pl.DataFrame,
    paper: Reported,
    *,
    confidence: float,
) -> dict[str, object]:
    """Everything that the page shows of methods, as plain values."""
    seeds = sorted(predictions["seed"].unique().to_list())
    names = labels.in_label_order([*predictions["method"].unique(), *paper.tables.methods.rows])
    figures: dict[str, dict[str, dict[str, object]]] = {}
    confusions: dict[str, dict[str, dict[str, object]]] = {}
    parts = predictions.sort("feature_set", "method").group_by(
        "feature_set", "method", maintain_order=True
    )
    for (set_key, method_key), part in parts:
        feature_set, method = str(set_key), str(method_key)
        of_seeds = {str(seed): part.filter(seed=seed) for seed in seeds}
        figures.setdefault(feature_set, {})[method] = {
            ALL_SEEDS: _estimates(metrics, feature_set, method),
            **{seed: seed_figures(of_seed) for seed, of_seed in of_seeds.items()},
        }
        confusions.setdefault(feature_set, {})[method] = {
            seed: _confusion(scenario_answers(each))
            for seed, each in {ALL_SEEDS: part, **of_seeds}.items()
        }
    return {
        "feature_sets": [
            {"id": name, "label": said}
            for name, said in labels.FEATURE_SET_LABELS.items()
            if name in figures
        ],
        "primary": PRIMARY_SET,
        "seeds": seeds,
        "scenarios": predictions["scenario"].n_unique(),
        "runs": predictions["run_id"].n_unique(),
        "repeats": predictions["repeat"].n_unique(),
        "architectures": sorted(predictions["architecture"].unique()),
        "confidence": confidence,
        "categories": [
            {"id": name, "label": labels.CATEGORY_LABELS[name], "short": labels.SHORT_LABELS[name]}
            for name in CATEGORIES
        ],
        "answers": list(ANSWERS),
        "methods": [_method(name, paper, set(predictions["method"])) for name in names],
        "figures": figures,
        "confusions": confusions,
        "curves": risk_curves(curves),
    }


def seed_figures(predictions: pl.DataFrame) -> dict[str, list[float]]:
    """Figures of one method, feature set and seed as lists of one; only measured ones."""
    answers = scenario_answers(predictions)
    confusion, categories = answers.confusion(), answers.categories
    values = {name: float(score(confusion, categories)) for name, score in FIGURES.items()}
    if (predictions["prediction"] != "abstain").any():
        committed = per_scenario.over_committed(predictions, per_scenario.right())
        values[COMMITTED] = float(per_scenario.ratio(committed.sums()))
    return {name: [_shown(value)] for name, value in values.items()}


def risk_curves(curves: pl.DataFrame) -> dict[str, object]:
    """Risks at common points of coverage: ``coverage``, and ``risk`` by feature set and method."""
    coverage: list[float] | None = None
    risks: dict[str, dict[str, list[float]]] = {}
    ordered = curves.sort("feature_set", "method", "coverage")
    for (feature_set, method), part in ordered.group_by(
        "feature_set", "method", maintain_order=True
    ):
        points = [_shown(value) for value in part["coverage"].to_list()]
        if coverage is not None and points != coverage:
            problem = f"{method!r} has other points than the methods before it."
            raise BadInputError(CURVES, "coverage", problem, "Run `dvc repro risk_coverage`.")
        coverage = points
        risk = [_shown(value) for value in part["risk"].to_list()]
        risks.setdefault(str(feature_set), {})[str(method)] = risk
    return {"coverage": coverage or [], "risk": risks}


def _estimates(metrics: Estimates, feature_set: str, method: str) -> dict[str, list[float]]:
    of_method = metrics.get(feature_set, {}).get(method)
    place, remedy = f"{feature_set}.{method}", "Run `dvc repro intervals`."
    if of_method is None:
        problem = "is missing although the method has predictions."
        raise BadInputError(INTERVALS, place, problem, remedy)
    for name in FIGURES:
        if name not in of_method:
            raise BadInputError(INTERVALS, f"{place}.{name}", "is missing.", remedy)
    return {
        name: [*(_shown(estimate[key]) for key in ("value", "ci_low", "ci_high")), estimate["n"]]
        for name in SHOWN
        if (estimate := of_method.get(name)) is not None
    }


def _confusion(answers: ScenarioAnswers) -> list[list[float]]:
    """Scenarios by category and answer, mean over repeats, ``[n_categories, n_answers]``."""
    rows = answers.confusion().mean(axis=0).tolist()
    return [[round(count, 2) for count in row] for row in rows]


def _method(name: str, paper: Reported, measured: set[str]) -> dict[str, object]:
    accuracy, row = reported_accuracies(paper).get(name), paper.tables.methods.rows.get(name)
    there = {
        "accuracy": accuracy,
        "interval": list(row.interval) if row and row.interval else None,
        "abstention": row.abstention if row else None,
    }
    reported = None if accuracy is None else there
    return {**method_facts(name), "measured": name in measured, "reported": reported}


def _shown(value: float) -> float:
    return round(float(value), DECIMALS)
