"""What the two studies of crashes share: answers of all predictors, and what is estimated."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from statsmodels.stats.multitest import multipletests

from failbench import study as st
from failbench.crashes import cases as crashes
from failbench.crashes.answers import asked
from failbench.crashes.language import CrashAgentsSettings
from failbench.crashes.prediction import PREDICTORS, CrashPrediction
from failbench.crashes.question import ARMS, Arm
from failbench.crashes.readers import replay

RULES = "rules"
DRY_RUN = "dry_run"
COMBINED = "dry_run_else_rules"
"""The dry run where it answers, the rules where it cannot say, told alike."""

MAJORITY = "majority"
LENGTH = "length"
TOKENS = "tokens"

LABELS = {
    MAJORITY: "Always a crash",
    LENGTH: "Length of the code",
    TOKENS: "Bag of tokens",
    **{predictor.name: predictor.label for predictor in PREDICTORS},
    COMBINED: "Dry run, else small rules",
    "large_model_2026": "Language model (large, unnamed, 2026)",
}
ARM_LABELS: dict[str, str] = {
    "code": "code alone",
    "structural": "+ structure",
    "type": "+ types",
    "value": "+ values",
    "all": "+ all three",
    "other": "+ all of another notebook",
}


Answers = dict[tuple[str, Arm], Sequence[CrashPrediction | None]]
"""By predictor and arm, in the order of the cases; None of a case that was not asked about."""


def label_of(predictor: str) -> str:
    """The name of a predictor, or of a language model of params.yaml."""
    return LABELS.get(predictor) or st.method_label(predictor)


def collect(cases: Sequence[crashes.Case], recorded: pl.DataFrame, place: Path) -> Answers:
    """Answers of all predictors but those that read as people do, in all of their arms."""
    key = ("predictor", "arm", "pair", "version")
    known = recorded.rows_by_key(key, named=True, unique=True)

    def read(predictor: str, arm: Arm, case: crashes.Case) -> CrashPrediction:
        pair = case.notebook.card.pair
        row = known.get((predictor, arm, pair, case.version))
        if row is None or row["asked"] != asked(case.ask(arm)):
            which = f"{pair!r}, {case.version}, in arm {arm!r}"
            problem = f"{predictor} has no answer for {which}."
            raise st.BadInputError(place, "asked", problem, crashes.REMEDY)
        return CrashPrediction(row["crash"], row["exception"], row["reason"], row["line"])

    given: dict[tuple[str, Arm], list[CrashPrediction]] = {}
    for each in PREDICTORS:
        predict = None if each.recorded else each.build()
        for arm in each.arms:
            given[each.name, arm] = [
                predict(case.ask(arm)) if predict else read(each.name, arm, case) for case in cases
            ]
    for arm in ARMS:
        rules = given[RULES, arm]
        both = zip(given.get((DRY_RUN, arm), rules), rules, strict=True)
        given[COMBINED, arm] = [rule if run.crash is None else run for run, rule in both]
    given[MAJORITY, "code"] = crashes.majority(cases)
    given[LENGTH, "code"] = crashes.by_length(cases)
    given |= {(TOKENS, arm): crashes.by_tokens(cases, arm) for arm in ARMS}
    return dict(given)


def of_readers(
    folder: Path,
    cases: Sequence[crashes.Case],
    readers: Sequence[str],
    settings: CrashAgentsSettings,
) -> Answers:
    """Answers of those who were given the prompts of a corpus, in the arms that they answered."""
    return {
        (name, arm): [given.get(place) for place in range(len(cases))]
        for name in readers
        for arm, given in replay(folder / f"{name}.csv", cases, settings).items()
    }


def told_as(predictor: str, arm: str) -> str:
    """What a predictor is told in an arm; who always says the same reads nothing."""
    return "nothing" if predictor == MAJORITY else ARM_LABELS[arm]


def answered(cases: Sequence[crashes.Case], answers: Answers, tags: Sequence[str]) -> pl.DataFrame:
    """A row for each predictor and question: what its card says, and the answer."""
    return pl.DataFrame(
        [
            {
                "predictor": predictor,
                "arm": arm,
                "part": case.part,
                "pair": case.notebook.card.pair,
                "version": case.version,
                **{name: getattr(case.notebook.card, name) for name in tags},
                "crashed": case.exception is not None,
                "raised": case.exception,
                "crash": answer.crash,
                "exception": answer.exception,
                "line": answer.line,
                "reason": answer.reason,
            }
            for (predictor, arm), given in answers.items()
            for case, answer in zip(cases, given, strict=True)
            if answer is not None
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

Scores = Mapping[str, tuple[pl.Expr, pl.Expr]]
SCORES: Scores = {
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


def sums_of_pairs(
    answers: pl.DataFrame, scores: Scores = SCORES
) -> tuple[list[tuple[str, str]], st.Array, st.Array]:
    """Predictors and arms; and of each pair parts and wholes, ``[n_scores, n_asked, n_pairs]``."""
    columns = {
        f"{metric}/{side}": value
        for metric, both in scores.items()
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
    answers: pl.DataFrame,
    settings: st.ScenarioIntervalSettings,
    scores: Scores = SCORES,
    **keys: str,
) -> pl.DataFrame:
    """Every score of every predictor and arm, all from the same resamples.

    Near one, at nought, and where a share is of few notebooks because few crashes are foreseen,
    Wilson's interval takes the place of BCa, with as many units as there are pairs, or notebooks if
    these are fewer.
    """
    known, parts, wholes = sums_of_pairs(answers, scores)
    n_pairs = parts.shape[-1]

    def figures(weights: st.Weights) -> st.Array:
        part, whole = (np.tensordot(weights[0], each, (-1, -1)) for each in (parts, wholes))
        # 0 of nothing, which resamples of few may hold
        ratios = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
        return np.moveaxis(ratios.reshape(*ratios.shape[:-2], -1), -1, 0)

    resampled = st.resample(st.single_seeds([n_pairs]), figures, settings)
    values, sizes = figures([np.ones(n_pairs)]), wholes.sum(axis=-1).ravel()
    found = []
    for place, (metric, key) in enumerate((metric, key) for metric in scores for key in known):
        value, size = float(values[place]), int(sizes[place])
        low, high, _ = resampled.number(place, value)
        few = size < settings.wilson_below
        if size and metric != "f1" and (few or value == 0 or value >= settings.wilson_from):
            low, high = st.wilson(value, min(size, n_pairs), settings.confidence)
        bounds = (value, low, high) if size else (None, None, None)
        found.append((*keys.values(), *key, metric, *bounds, size, n_pairs))
    schema = [*keys, "predictor", "arm", "metric", *st.ESTIMATE, "pairs"]
    return st.rounded(pl.DataFrame(found, schema, orient="row", infer_schema_length=None))


def contrasts(answers: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """What a predictor gains in one arm over another; Holm's adjustment is by metric."""
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

        def figures(weights: st.Weights, apart: st.Array = apart, score: int = score) -> st.Array:
            sums = np.tensordot(weights[0], apart, (-1, -1))
            return np.moveaxis(sums / wholes[score, 0].sum(), -1, 0)

        resampled = st.resample(st.single_seeds([n_pairs]), figures, settings)
        differences = figures([np.ones(n_pairs)])
        told = answers.with_columns(told=SCORES[metric][0])
        splits = []
        for name, left, right in wanted:
            of_arms = told.filter(pl.col("arm").is_in([left, right]), predictor=name)
            wide = of_arms.pivot("arm", index=["pair", "version"], values="told")
            splits.append(st.discordant(wide, (left, right)))
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


def published_gains(published: pl.DataFrame) -> dict[str, dict[str, object]]:
    """The least and the most that CRANE-LLM's language models gain, as counted in either way."""
    gains = published.filter(~pl.col("model").is_in(crashes.TOOLS)).group_by("counted")
    return {
        str(counted): {"least": models["gain"].min(), "most": models["gain"].max()}
        for (counted,), models in gains
    }


def gain_rows(gains: pl.DataFrame, published: pl.DataFrame) -> Iterator[st.Row | st.Divider]:
    for metric, counted, text in (
        ("accuracy", "detection", "Crash foreseen"),
        ("named_accuracy", "detection and diagnosis", "Crash foreseen, exception named"),
    ):
        yield st.Divider(text)
        for row in gains.filter(metric=metric).rows(named=True):
            arms = ARM_LABELS[row["left"]], ARM_LABELS[row["right"]].removeprefix("+ ")
            difference = st.estimate_text({**row, "value": row["difference"]}, "points")
            only = str(row["left_only"]), str(row["right_only"])
            probabilities = st.written(row["p"], "p"), st.written(row["p_holm"], "p")
            label = label_of(row["predictor"])
            yield st.Row((label, " − ".join(arms), difference, *only, *probabilities))
        for model, gain in published.filter(counted=counted)["model", "gain"].rows():
            arms = f"{model}, published", "with information − without"
            yield st.Row((*arms, st.written(gain, "points"), *"––––"))


MARKS = {
    "large_model_2026": st.Mark("Language model", st.BLACK, "*"),
    COMBINED: st.Mark(LABELS[COMBINED], st.VERMILLION, "o"),
    DRY_RUN: st.Mark(LABELS[DRY_RUN], st.ORANGE, "^"),
    RULES: st.Mark(LABELS[RULES], st.BLUE, "s"),
    "pyright": st.Mark(LABELS["pyright"], st.GREEN, "D"),
    "pylint": st.Mark(LABELS["pylint"], st.PURPLE, "v"),
    LENGTH: st.Mark(LABELS[LENGTH], st.GREY, "x"),
}
REPORTED = st.Mark("published of CRANE-LLM", st.BLACK, "|", size=9.0)


def draw(
    tested: pl.DataFrame, gains: pl.DataFrame, published: pl.DataFrame, figure: Figure
) -> None:
    """Accuracy by arm, and the gain over code alone."""
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    accuracy = tested.filter(metric="accuracy").rename({"predictor": "mark", "arm": "row"})
    st.dot_plot(left, accuracy, ARM_LABELS, MARKS, heavy_above=("other",))
    left.axvline(50, color=st.GREY, linestyle=":", linewidth=0.8)
    left.set(xlim=(28, 102), title="what they reach")
    left.set_xlabel("accuracy, percent of notebooks\n(dotted: chance)")
    names = {"predictor": "mark", "left": "row", "difference": "value"}
    over_code = gains.filter(metric="accuracy", right="code").rename(names)
    st.dot_plot(right, over_code, ARM_LABELS, MARKS, heavy_above=("other",))
    right.axvline(0, color=st.GREY, linestyle=":", linewidth=0.8)
    of_models = published.filter(~pl.col("model").is_in(crashes.TOOLS), counted="detection")
    for gain in of_models["gain"]:
        right.plot(100 * gain, list(ARM_LABELS).index("all"), **REPORTED.look)
    right.set(xlabel="points over code alone", title="what information adds")
    marks = (*MARKS.values(), REPORTED)
    st.legend_outside(figure, marks, columns=4, columnspacing=1.0, handletextpad=0.3)
