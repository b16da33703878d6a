"""Stage crash_prediction: which crashes of notebooks are foreseen, and what the kernel adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from statsmodels.stats.multitest import multipletests

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.vocabulary import DIFFICULTIES
from failbench.crashes.answer_table import ANSWER_TABLE, REMEDY, TOOLS, read_published
from failbench.crashes.answers import asked
from failbench.crashes.cases import Case, CrashPredictionSettings, by_length, majority, read_cases
from failbench.crashes.catalogue import PREDICTORS
from failbench.crashes.language import CrashAgentsSettings, Replayed, replayed
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import ARMS, Arm
from failbench.methods.llm.cache import cache_path, read_cache
from failbench.notebooks.corpus import LIBRARIES
from failbench.statistics.bootstrap import Weights, resample, single_seeds
from failbench.statistics.intervals import ESTIMATE, ScenarioIntervalSettings, nest, wilson
from failbench.statistics.paired_tests import discordant
from failbench.statistics.settings import read_with_statistics
from failbench.study.captions import Captions
from failbench.study.cells import estimate_text, written
from failbench.study.dot_plot import dot_plot
from failbench.study.estimates import Estimates, rounded
from failbench.study.labels import method_label
from failbench.study.picture import legend_outside
from failbench.study.plain_table import Divider, Table
from failbench.study.publication import publish, run
from failbench.study.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, Mark
from failbench.study.tables import Of, Row, Text, table

NOTEBOOKS = Path("data/notebooks")
ANSWERS = Path("data/crashes/answers.parquet")
MODELS = Path("data/llm/crashes")
PUBLISHED = Path("data/reported/crane_llm.csv")

RULES = "rules"
DRY_RUN = "dry_run"
COMBINED = "dry_run_else_rules"
"""The dry run where it answers, the rules where it cannot say, told alike."""

MAJORITY = "majority"
LENGTH = "length"

LABELS = {
    MAJORITY: "Always a crash",
    LENGTH: "Length of the code",
    **{predictor.name: predictor.label for predictor in PREDICTORS},
    COMBINED: "Dry run, else small rules",
}
ARM_LABELS: dict[str, str] = {
    "code": "code alone",
    "structural": "+ structure",
    "type": "+ types",
    "value": "+ values",
    "all": "+ all three",
    "other": "+ all of another notebook",
}


# Answers

Answers = dict[tuple[str, Arm], Sequence[CrashPrediction]]
"""By predictor and arm, in the order of the cases."""


def collect(cases: Sequence[Case], recorded: pl.DataFrame, place: Path) -> Answers:
    """Answers of all predictors but language models, in all of their arms."""
    known = {
        (row["predictor"], row["arm"], row["pair"], row["version"]): row
        for row in recorded.iter_rows(named=True)
    }

    def read(predictor: str, arm: Arm, case: Case) -> CrashPrediction:
        card = case.notebook.card
        row = known.get((predictor, arm, card.pair, card.version))
        if row is None or row["asked"] != asked(case.ask(arm)):
            which = f"{card.pair!r}, {card.version}, in arm {arm!r}"
            raise BadInputError(place, "asked", f"{predictor} has no answer for {which}.", REMEDY)
        return CrashPrediction(row["crash"], row["exception"], row["reason"], row["line"])

    answers: Answers = {}
    for each in PREDICTORS:
        for arm in each.arms:
            if each.recorded:
                answers[each.name, arm] = [read(each.name, arm, case) for case in cases]
            else:
                predict = each.build()
                answers[each.name, arm] = [predict(case.ask(arm)) for case in cases]
    for arm in ARMS:
        rules = answers[RULES, arm]
        both = zip(answers.get((DRY_RUN, arm), rules), rules, strict=True)
        answers[COMBINED, arm] = [rule if run.crash is None else run for run, rule in both]
    return answers | {(MAJORITY, "code"): majority(cases), (LENGTH, "code"): by_length(cases)}


def replay(
    cases: Sequence[Case], settings: CrashAgentsSettings
) -> dict[str, Replayed[tuple[Arm, int]]]:
    """What the language models of params.yaml have answered, from their caches."""
    questions = {(arm, place): case.ask(arm) for arm in ARMS for place, case in enumerate(cases)}
    return {
        label: replayed(questions, model, settings, read_cache(cache_path(MODELS, label)))
        for label, model in settings.models.items()
    }


def answered(cases: Sequence[Case], answers: Answers) -> pl.DataFrame:
    """A row for each predictor and question: what is known of the notebook, and the answer."""
    card = {"pair", "version", "library", "misuse", "difficulty"}
    return pl.DataFrame(
        [
            {
                "predictor": predictor,
                "arm": arm,
                "part": case.part,
                **case.notebook.card.model_dump(include=card),
                "crashed": case.exception is not None,
                "raised": case.exception,
                "crash": answer.crash,
                "exception": answer.exception,
            }
            for (predictor, arm), given in answers.items()
            for case, answer in zip(cases, given, strict=True)
        ],
        infer_schema_length=None,
    )


# What is estimated: the two notebooks of a pair are drawn together, as they differ by one edit

CRASHED = pl.col("crashed")
SAID = pl.col("crash").fill_null(value=False)
"""Who cannot say foresees no crash."""

HIT, SILENT, ANSWERED = SAID & CRASHED, ~SAID & ~CRASHED, pl.col("crash").is_not_null()
NAMED = HIT & (pl.col("exception") == pl.col("raised")).fill_null(value=False)
ALL = pl.lit(1)

SCORES: dict[str, tuple[pl.Expr, pl.Expr]] = {
    "accuracy": (HIT | SILENT, ALL),
    "precision": (HIT, SAID),
    "recall": (HIT, CRASHED),
    "f1": (2 * HIT, SAID + CRASHED),
    "alarms": (SAID & ~CRASHED, ~CRASHED),
    "named": (NAMED, CRASHED),
    "named_accuracy": (NAMED | SILENT, ALL),
    "answered": (ANSWERED, ALL),
    "accuracy_answered": (ANSWERED & (HIT | SILENT), ANSWERED),
}
"""Of a notebook the part and the whole of each share. ``alarms`` is the share of mended notebooks
of which a crash is foreseen, ``named`` that of crashes whose exception is named,
``named_accuracy`` counts a crash as told right only so."""

CONTRASTS = (*((arm, "code") for arm in ARMS[1:]), ("all", "other"))
"""Arms that are compared: with information and without, and the right one and another's."""

GAIN = ("difference", "ci_low", "ci_high", "left_only", "right_only", "p", "p_holm", "pairs")


def sums_of_pairs(answers: pl.DataFrame) -> tuple[list[tuple[str, str]], Array, Array]:
    """Predictors and arms; and of each pair parts and wholes, ``[n_scores, n_asked, n_pairs]``."""
    columns = {
        f"{metric}/{side}": value
        for metric, both in SCORES.items()
        for side, value in zip(("part", "whole"), both, strict=True)
    }
    summed = (
        answers.select("predictor", "arm", "pair", **columns)
        .group_by("predictor", "arm", "pair", maintain_order=True)
        .agg(pl.all().sum())
        .sort("pair", maintain_order=True)
    )
    groups = dict(iter(summed.group_by("predictor", "arm", maintain_order=True)))
    sums = np.stack([part.select(*columns).to_numpy().T for part in groups.values()], axis=1)
    keys = [(str(predictor), str(arm)) for predictor, arm in groups]
    return keys, sums[::2].astype(np.float64), sums[1::2].astype(np.float64)


def estimates(
    answers: pl.DataFrame, settings: ScenarioIntervalSettings, **keys: str
) -> pl.DataFrame:
    """Every score of every predictor and arm, all from the same resamples.

    Near one, at nought, and where a share is of few notebooks because few crashes are foreseen,
    Wilson's interval takes the place of BCa, with as many units as there are pairs, or notebooks if
    these are fewer.
    """
    known, parts, wholes = sums_of_pairs(answers)
    n_pairs = parts.shape[-1]

    def figures(weights: Weights) -> Array:
        part, whole = (np.tensordot(weights[0], each, (-1, -1)) for each in (parts, wholes))
        # 0 of nothing, which resamples of few may hold
        ratios = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
        return np.moveaxis(ratios.reshape(*ratios.shape[:-2], -1), -1, 0)

    resampled = resample(single_seeds([n_pairs]), figures, settings)
    values, sizes = figures([np.ones(n_pairs)]), wholes.sum(axis=-1).ravel()
    found = []
    for place, (metric, key) in enumerate((metric, key) for metric in SCORES for key in known):
        value, size = float(values[place]), int(sizes[place])
        low, high, _ = resampled.number(place, value)
        few = size < settings.wilson_below
        if size and metric != "f1" and (few or value == 0 or value >= settings.wilson_from):
            low, high = wilson(value, min(size, n_pairs), settings.confidence)
        bounds = (value, low, high) if size else (None, None, None)
        found.append((*keys.values(), *key, metric, *bounds, size, n_pairs))
    schema = [*keys, "predictor", "arm", "metric", *ESTIMATE, "pairs"]
    return rounded(pl.DataFrame(found, schema, orient="row", infer_schema_length=None))


def contrasts(answers: pl.DataFrame, settings: ScenarioIntervalSettings) -> pl.DataFrame:
    """What every predictor gains in one arm over another, on the same notebooks.

    Holm's adjustment is over the contrasts of a metric.
    """
    known, parts, wholes = sums_of_pairs(answers)
    n_pairs = parts.shape[-1]
    wanted = [
        (predictor, left, right)
        for predictor in dict.fromkeys(predictor for predictor, _ in known)
        for left, right in CONTRASTS
        if {(predictor, left), (predictor, right)} <= set(known)
    ]
    found = []
    for metric in ("accuracy", "named_accuracy"):
        score = list(SCORES).index(metric)
        of = dict(zip(known, parts[score], strict=True))
        apart = np.stack([of[name, left] - of[name, right] for name, left, right in wanted])

        def figures(weights: Weights, apart: Array = apart, score: int = score) -> Array:
            sums = np.tensordot(weights[0], apart, (-1, -1))
            return np.moveaxis(sums / wholes[score, 0].sum(), -1, 0)

        resampled = resample(single_seeds([n_pairs]), figures, settings)
        differences = figures([np.ones(n_pairs)])
        told = answers.with_columns(told=SCORES[metric][0])
        splits = [
            discordant(
                told.filter(pl.col("arm").is_in([left, right]), predictor=name).pivot(
                    "arm", index=["pair", "version"], values="told"
                ),
                (left, right),
            )
            for name, left, right in wanted
        ]
        adjusted = multipletests([p for *_, p in splits], method="holm")[1]
        for place, (name, left, right) in enumerate(wanted):
            difference = float(differences[place])
            low, high, _ = resampled.number(place, difference)
            left_only, right_only, p = splits[place]
            tested = (left_only, right_only, p, float(adjusted[place]), n_pairs)
            names = (metric, name, left, right, f"{left} over {right}")
            found.append((*names, difference, low, high, *tested))
    schema = ["metric", "predictor", "left", "right", "contrast", *GAIN]
    return pl.DataFrame(found, schema, orient="row")


# What is shown


def label_of(predictor: str) -> str:
    """The name of a predictor, or of a language model of params.yaml."""
    return LABELS.get(predictor) or method_label(predictor)


def numbers(
    cases: Sequence[Case], published: pl.DataFrame, unavailable: Sequence[str]
) -> dict[str, object]:
    sizes: dict[str, dict[str, int]] = {}
    for case in cases:
        if case.part == "test":
            card = case.notebook.card
            sizes.setdefault(card.pair, {})[card.version] = case.characters
    shorter = sum(each["crashing"] < each["mended"] for each in sizes.values())
    gains = published.filter(~pl.col("model").is_in(TOOLS)).group_by("counted")
    return {
        "pairs": len(sizes),
        "development_pairs": sum(case.part == "development" for case in cases) // 2,
        "shorter": shorter,
        "shorter_share": shorter / len(sizes),
        "unavailable": " and ".join(map(label_of, unavailable)),
        "published": {
            counted: {"least": least, "most": most}
            for counted, least, most in gains.agg(
                least=pl.col("gain").min(), most=pl.col("gain").max()
            ).rows()
        },
    }


def tables(
    found: Estimates, gains: pl.DataFrame, published: pl.DataFrame, said: Captions
) -> Iterator[Table]:
    """Every predictor in every arm, what information adds, and accuracy by groups of notebooks."""
    tested = found.where(by="test").frame
    known = tested.unique(["predictor", "arm"], maintain_order=True)["predictor", "arm"].rows()
    # who always says the same reads nothing
    body = [
        Row(
            (label_of(name), "nothing" if name == MAJORITY else ARM_LABELS[arm]),
            {"predictor": name, "arm": arm},
        )
        for name, arm in known
    ]
    heads = [Text("Predictor"), Text("Told")]
    headings = {
        "accuracy": "Accuracy",
        "precision": "Precision",
        "recall": "Recall",
        "f1": "F1",
        "named": "Exception named",
        "answered": "Answered",
        "accuracy_answered": "Accuracy of these",
    }
    of = [Of(metric, heading, keys={"by": "test"}) for metric, heading in headings.items()]
    yield table("crash_prediction", found, [*heads, *of], body, said)

    right = ("Difference", "Only first", "Only second", "p", "p, Holm")
    of_gains = [Text("Predictor"), Text("Arms"), *(Text(each, align="right") for each in right)]
    yield table("crash_prediction_gains", found, of_gains, gain_rows(gains, published), said)

    columns = [
        Of(
            metric,
            metric.capitalize(),
            f"{label_of(name)}, {ARM_LABELS[arm]}",
            keys={"predictor": name, "arm": arm},
        )
        for name, arm in ((RULES, "code"), (RULES, "all"), (COMBINED, "all"))
        for metric in ("recall", "accuracy")
    ]
    for by, heading in (("library", "Library"), ("misuse", "Misuse"), ("difficulty", "Grade")):
        groups = found.where(by=by)
        pairs = dict(groups.frame["group", "pairs"].unique(maintain_order=True).rows())
        yield table(
            f"crash_prediction_{by}",
            groups,
            [Text(heading), Text("Pairs", align="right"), *columns],
            [Row((group, str(number)), {"group": group}) for group, number in pairs.items()],
            said,
        )

    parts = {part: found.where(by=part).frame["pairs"][0] for part in ("development", "test")}
    of = [
        Of("accuracy", f"{part.capitalize()} ({pairs} pairs)", keys={"by": part})
        for part, pairs in parts.items()
    ]
    yield table("crash_prediction_parts", found, [*heads, *of], body, said)


def gain_rows(gains: pl.DataFrame, published: pl.DataFrame) -> Iterator[Row | Divider]:
    for metric, counted, text in (
        ("accuracy", "detection", "Crash foreseen"),
        ("named_accuracy", "detection and diagnosis", "Crash foreseen, exception named"),
    ):
        yield Divider(text)
        for row in gains.filter(metric=metric).rows(named=True):
            arms = ARM_LABELS[row["left"]], ARM_LABELS[row["right"]].removeprefix("+ ")
            difference = estimate_text({**row, "value": row["difference"]}, "points")
            only = str(row["left_only"]), str(row["right_only"])
            probabilities = written(row["p"], "p"), written(row["p_holm"], "p")
            label = label_of(row["predictor"])
            yield Row((label, " − ".join(arms), difference, *only, *probabilities))
        for model, gain in published.filter(counted=counted)["model", "gain"].rows():
            arms = f"{model}, published", "with information − without"
            yield Row((*arms, written(gain, "points"), *"––––"))


MARKS = {
    name: Mark(LABELS[name], colour, marker)
    for name, colour, marker in (
        (COMBINED, VERMILLION, "o"),
        (DRY_RUN, ORANGE, "^"),
        (RULES, BLUE, "s"),
        ("pyright", GREEN, "D"),
        ("pylint", PURPLE, "v"),
        (LENGTH, GREY, "x"),
    )
}
REPORTED = Mark("published of CRANE-LLM", BLACK, "|", size=9.0)


def draw(
    tested: pl.DataFrame, gains: pl.DataFrame, published: pl.DataFrame, figure: Figure
) -> None:
    """Accuracy by arm, and the gain over code alone."""
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    accuracy = tested.filter(metric="accuracy").rename({"predictor": "mark", "arm": "row"})
    dot_plot(left, accuracy, ARM_LABELS, MARKS, heavy_above=("other",))
    left.axvline(50, color=GREY, linestyle=":", linewidth=0.8)
    left.set(xlim=(28, 102), title="what they reach")
    left.set_xlabel("accuracy, percent of notebooks\n(dotted: chance)")
    names = {"predictor": "mark", "left": "row", "difference": "value"}
    over_code = gains.filter(metric="accuracy", right="code").rename(names)
    dot_plot(right, over_code, ARM_LABELS, MARKS, heavy_above=("other",))
    right.axvline(0, color=GREY, linestyle=":", linewidth=0.8)
    for gain in published.filter(~pl.col("model").is_in(TOOLS), counted="detection")["gain"]:
        right.plot(100 * gain, list(ARM_LABELS).index("all"), **REPORTED.look)
    right.set(xlabel="points over code alone", title="what information adds")
    handles = [*(mark.handle for mark in MARKS.values()), REPORTED.handle]
    legend_outside(figure, handles, columns=4, columnspacing=1.0, handletextpad=0.3)


def metrics_of(
    found: pl.DataFrame, gains: pl.DataFrame, models: Mapping[str, Replayed[Any]]
) -> dict[str, Any]:
    keys, leaves = ("predictor", "arm", "metric"), (*ESTIMATE, "pairs")
    counts = ("available", "questions", "answered", "unreadable", "cut")
    return {
        "test": nest(found.filter(by="test"), *keys, leaves=leaves),
        "development": nest(found.filter(by="development"), *keys, leaves=leaves),
        "library": nest(found.filter(by="library"), "group", *keys, leaves=leaves),
        "gains": nest(gains, "metric", "predictor", "contrast", leaves=GAIN),
        "language_models": {
            label: {name: getattr(model, name) for name in counts}
            for label, model in models.items()
        },
    }


def main() -> None:
    said = Captions.read("crash_prediction")
    settings = read_with_statistics("crash_prediction", CrashPredictionSettings)
    agents = read_section("crash_agents", CrashAgentsSettings)
    published = read_published(PUBLISHED)
    recorded = ANSWER_TABLE.read(ANSWERS)
    cases = read_cases(NOTEBOOKS, settings.control_seed)
    models = replay(cases, agents)
    answers = collect(cases, recorded, ANSWERS)
    for label, model in models.items():
        if model.predictions is not None:
            for arm in ARMS:
                answers[label, arm] = [model.predictions[arm, at] for at in range(len(cases))]

    every = answered(cases, answers)
    tested = every.filter(part="test")
    misuses = tested["misuse"].unique().sort()
    groups = {"library": LIBRARIES, "misuse": misuses, "difficulty": DIFFICULTIES}
    parts = [(part, "", every.filter(part=part)) for part in ("test", "development")]
    parts += [
        (by, name, tested.filter(pl.col(by) == name))
        for by, names in groups.items()
        for name in names
    ]
    found = pl.concat(estimates(part, settings, by=by, group=name) for by, name, part in parts)
    gains = contrasts(tested, settings)
    metrics = metrics_of(found.drop_nulls("value"), gains, models)
    unavailable = [label for label, model in models.items() if not model.available]
    named = numbers(cases, published, unavailable)
    said = said.with_numbers(settings, named, metrics)
    # an interval that is a point is not written
    bounds = [
        pl.when(pl.col("ci_low") < pl.col("ci_high")).then(name).alias(name)
        for name in ("ci_low", "ci_high")
    ]
    points = found.filter(by="test").drop("by", "group")
    picture = said.picture("figure", 2.9, partial(draw, points, gains, published))
    publish(
        "crash_prediction",
        metrics=metrics,
        points=points,
        tables=tables(Estimates(found.with_columns(bounds)), gains, published, said),
        figures={"crash_prediction": picture},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=points.filter(metric="accuracy"),
    )


if __name__ == "__main__":
    run(main)
