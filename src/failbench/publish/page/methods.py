"""Methods: their answers by scenario, the first view, and what every method reaches."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.methods import RECORDED_MODEL, RECORDED_SEED
from failbench.base.records import Record
from failbench.base.vocabulary import ABSTAIN, ANSWERS, CATEGORIES, PRIMARY_SET
from failbench.statistics.scenario_values import ScenarioAnswers, scenario_answers
from failbench.study import labels
from failbench.study.cells import Measured
from failbench.study.inputs import Scope
from failbench.study.paper_numbers import Reported, reported_accuracies

DECIMALS: Final = 6  # of the metrics: fewer would round a number twice before it is shown

INTERVALS: Final = "data/metrics/intervals.json"
CURVES: Final = "data/plots/risk_coverage.csv"

_TEXT, _NUMBER = pl.String(), pl.Float64()
CURVE_SCHEMA: Final = pl.Schema(  # keyed by the first three
    {"feature_set": _TEXT, "method": _TEXT, "coverage": _NUMBER, "risk": _NUMBER}
)

FIGURES: Final = (
    *("accuracy", "balanced_accuracy", "macro_f1", "abstention_rate"),
    *(f"f1_{name}" for name in CATEGORIES),
)
"""Names of the metrics file."""

SHOWN: Final = (*FIGURES, "accuracy_when_committed")
"""The last one only where a method commits itself."""

VERDICTS: Final = ("right", "wrong", "abstained", "divided")
"""What most answers of a method to a scenario are; divided where none of the three has most."""


@dataclass(frozen=True)
class Answers:
    """The answers of one method to the runs of one scenario."""

    category: str
    counts: dict[str, int]
    right_by_seed: tuple[int, ...]
    repeats: int

    @property
    def total(self) -> int:
        """How many answers there are."""
        return sum(self.counts.values())

    @property
    def verdict(self) -> str:
        """Which of ``VERDICTS`` more than half of the answers make.

        >>> Answers("unknown", {"unknown": 2, "abstain": 2}, (2,), 4).verdict
        'divided'
        """
        right, abstained = self.counts.get(self.category, 0), self.counts.get(ABSTAIN, 0)
        wrong = self.total - right - abstained
        counts = {"right": right, "abstained": abstained, "wrong": wrong}
        most = max(counts, key=counts.__getitem__)
        return most if 2 * counts[most] > self.total else "divided"


def answers_by_scenario(predictions: pl.DataFrame) -> dict[str, dict[str, Answers]]:
    """Answers on the original's features, by scenario, then method in the order of labels."""
    table = predictions.filter(pl.col("feature_set") == PRIMARY_SET).sort(
        "scenario", "method", "seed", "repeat"
    )
    methods = shown_order(table["method"].unique().to_list())
    parts = table.partition_by("scenario", "method", as_dict=True)

    def answers_of(scenario: str, method: str) -> Answers:
        if (scenario, method) in parts:
            return _answers(parts[scenario, method])
        problem = f"there is no answer to {scenario!r} on feature set {PRIMARY_SET}."
        place, stage = "nested_cv", f"nested_cv@{method}"
        if method == RECORDED_MODEL:
            place, stage = "recorded", "measure_llm_agents"
        remedy = f"Run `dvc repro {stage}`."
        raise BadInputError(f"data/predictions/{place}", method, problem, remedy)

    return {
        scenario: {method: answers_of(scenario, method) for method in methods}
        for scenario in table["scenario"].unique().sort()
    }


def each_answer_once(recorded: pl.DataFrame) -> pl.DataFrame:
    """Answers of a model that was asked once about a run, which are replayed in every repeat."""
    return recorded.filter(pl.col("repeat") == pl.col("repeat").min())


def _answers(part: pl.DataFrame) -> Answers:
    counts = Counter(part["prediction"].to_list())
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    right = (pl.col("prediction") == pl.col("category")).sum().alias("right")
    by_seed = tuple(int(count) for count in part.group_by("seed").agg(right).sort("seed")["right"])
    return Answers(part["category"][0], ordered, by_seed, part["repeat"].n_unique())


def shown_order(methods: list[str]) -> list[str]:
    """Held-out methods, then development, then those given the category; each by label order."""
    return sorted(
        labels.in_label_order(methods),
        key=lambda method: (not labels.is_blind(method), labels.reads_true_category(method)),
    )


def method_facts(method: str) -> dict[str, object]:
    """What every view has of a method: its name, what it reads, and whether it is held out."""
    told = labels.reads_true_category(method)
    return {
        "id": method,
        "label": labels.method_label(method),
        "reads": labels.reads_label(method),
        "told": told,
        "development": labels.made_in_view(method) and not told,
        "mark": "" if told else labels.mark_of(method),
        "asked": ASKED_ONCE if method == RECORDED_MODEL else None,
    }


ASKED_ONCE: Final = f"asked once about each run of seed {RECORDED_SEED}; learns nothing"

ORIGINAL: Final = (
    "The original is the study that this one reproduces: “A Diagnostic Benchmark for Transformer "
    "Training Failures” (anonymous, under review)."
)

TOLD_NOTE: Final = (
    "Hollow: methods that are given the true category, for all or part of their answers. They "
    "show what an assumption about people comes to, and are no diagnosis."
)

ESTIMATE: Final = ("value", "ci_low", "ci_high", "n")


class ShownIntervals(Record):
    """Of the section ``statistics`` of params.yaml, what intervals are said to be."""

    confidence: float = Field(gt=0, lt=1)


def landing(
    measured: Measured,
    paper: Reported,
    scope: Scope,
    finding: str,
    *,
    scale: str,
    majority: float,
    confidence: float,
) -> dict[str, object]:
    """What the first view shows, below the finding that the stage ``intervals`` published."""
    of_methods = measured[PRIMARY_SET]
    rows = [_row(method, of_methods[method], paper) for method in shown_order([*of_methods])]
    held_out = sum(map(labels.is_blind, of_methods))
    n = int(next(iter(of_methods.values()))["accuracy"]["n"])
    measured_how = (
        f"Failures of {n} scenarios in the reference setting, {scope.seeds} seeds, "
        f"{scope.repeats} repeats of the folds, the original's 19 features; each answer is by a "
        f"fit that has not learnt from its scenario. {100 * confidence:g} % intervals by "
        "resampling scenarios and seeds. The original's scenarios are others than these, and not "
        "released. One author wrote faults, labels and rules."
    )
    return {
        "original": ORIGINAL,
        "finding": finding,
        "scale": scale,
        "majority": {"value": majority, "n": scope.scenarios},
        "rows": rows,
        "title": "How often each method names the right category of a failure, of five",
        "description": f"Dots with intervals for {len(rows)} measured methods, {held_out} of "
        f"which were not fitted to the scenario that they diagnose, and diamonds for what the "
        f"original reports. {finding}",
        "caption": [
            measured_how,
            f"* ‡ {labels.DEVELOPMENT_NOTE}",
            f"§ {ASKED_ONCE[0].upper()}{ASKED_ONCE[1:]}.",
            TOLD_NOTE,
        ],
    }


def _row(
    method: str, estimates: Mapping[str, Mapping[str, float]], paper: Reported
) -> dict[str, object]:
    measured = {key: estimates["accuracy"][key] for key in ESTIMATE}
    return {**method_facts(method), "measured": measured, "reported": _reported(method, paper)}


def _reported(method: str, paper: Reported) -> dict[str, float | None] | None:
    value, row = reported_accuracies(paper).get(method), paper.tables.methods.rows.get(method)
    low, high = (row and row.interval) or (None, None)
    return None if value is None else {"value": value, "ci_low": low, "ci_high": high}


def methods_section(
    predictions: pl.DataFrame,
    metrics: Measured,
    curves: pl.DataFrame,
    paper: Reported,
    *,
    confidence: float,
) -> dict[str, object]:
    """Everything that the page shows of methods, as plain values."""
    names = labels.in_label_order([*predictions["method"].unique(), *paper.tables.methods.rows])
    figures: dict[str, dict[str, object]] = {}
    confusions: dict[str, dict[str, object]] = {}
    parts = predictions.sort("feature_set", "method").group_by(
        "feature_set", "method", maintain_order=True
    )
    for (set_key, method_key), part in parts:
        feature_set, method = str(set_key), str(method_key)
        figures.setdefault(feature_set, {})[method] = _estimates(metrics, feature_set, method)
        confusions.setdefault(feature_set, {})[method] = _confusion(scenario_answers(part))
    return {
        "feature_sets": [
            {"id": name, "label": said}
            for name, said in labels.FEATURE_SET_LABELS.items()
            if name in figures
        ],
        "primary": PRIMARY_SET,
        **{f"{name}s": predictions[name].n_unique() for name in ("scenario", "seed", "repeat")},
        "confidence": confidence,
        "categories": [
            {"id": name, "label": labels.CATEGORY_LABELS[name], "short": labels.SHORT_LABELS[name]}
            for name in CATEGORIES
        ],
        "answers": list(ANSWERS),
        "methods": [{**method_facts(name), "reported": _reported(name, paper)} for name in names],
        "figures": figures,
        "confusions": confusions,
        "curves": risk_curves(curves),
    }


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


def _estimates(metrics: Measured, feature_set: str, method: str) -> dict[str, list[float]]:
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


def _shown(value: float) -> float:
    return round(float(value), DECIMALS)
