"""Stage architectures: whether the improved rules are worth the same on every architecture."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from pydantic import Field

from failbench import study as st
from failbench.features.feature_table import read_features
from shared.architectures import RECORDED, RULE_PREDICTION_SCHEMA, RULES, ArchitecturesDesign

RULE_PREDICTIONS = Path("data/predictions/architectures/improved_rules.parquet")

RULES_METHOD, FOREST = "improved_rules", "random_forest"
FAMILY = ("study", "method", "thresholds", "noise")
"""Whose rates on each architecture are compared with one another."""
AS_RECORDED: dict[str, Any] = {
    "study": RULES,
    "method": RULES_METHOD,
    "thresholds": "reference",
    "noise": RECORDED,
}

RATES = ("accuracy", "macro_f1", "abstention_rate")
OVER_LOGS, AGAINST_OTHERS, SPREAD = "accuracy_over_logs", "against_others", "spread"
VERDICT = ("p_equivalence", "smallest_margin", "detectable")
"""What a difference has besides an interval."""
ESTIMATED = ("value", "ci_low", "ci_high", "n", "unit", "runs", "interval", "p", *VERDICT)

ALL = "all"
"""In the place of an architecture: an estimate about all of them."""
EXTREMES, HIGHEST = "extremes", "Highest less lowest"
"""The same: the highest less the lowest of a rate, over the scenarios that each of them has."""


class ArchitecturesSettings(ArchitecturesDesign):
    """What is done to runs and thresholds, and when architectures count as alike."""

    equivalence_margin: float = Field(gt=0, lt=1)
    power: float = Field(gt=0, lt=1)


def estimates(
    rules: pl.DataFrame,
    predictions: pl.DataFrame,
    features: pl.DataFrame,
    intervals: st.ScenarioIntervalSettings,
    settings: ArchitecturesSettings,
    workers: int = 1,
) -> pl.DataFrame:
    """Rates with intervals, how alike architectures are, and sizes; the main study is beside."""
    on_features = predictions.filter(feature_set=st.PRIMARY_SET)
    main, left_out = (on_features.filter(study=name) for name in (st.NESTED_CV, st.LEFT_OUT))
    if left_out.is_empty():
        problem = f"there are none of {st.LEFT_OUT} on the original's features."
        remedy = "Run `dvc repro` for the stage that leaves architectures out."
        raise st.BadInputError("predictions", "study", problem, remedy)
    as_recorded = {"noise": pl.lit(RECORDED)}
    log = pl.lit(0, pl.Int32)
    learned = left_out.with_columns(thresholds=pl.lit("left_out"), **as_recorded, log=log)
    answers = [*FAMILY, "architecture", "category", "scenario", "repeat", "log", "run_id"]
    answers += ["seed", "prediction"]
    families = pl.concat([rules.select(answers), learned.select(answers)])
    asked = main.join(left_out, on="method", how="semi")
    beside = pl.concat([asked, st.same_repeats(main, left_out)])
    beside = beside.with_columns(thresholds="study", **as_recorded)
    of_family, accuracy = (
        partial(family_of, intervals, settings),
        partial(rates, intervals, RATES[:1]),
    )
    parts = [
        st.of_groups(families, FAMILY, of_family, workers),
        st.of_groups(beside, (*FAMILY, "architecture"), accuracy, workers),
        sizes(features, rules),
    ]
    columns = (*FAMILY, "architecture", "metric", *ESTIMATED)
    return pl.concat(parts, how="diagonal_relaxed").select(columns)


def rates(
    intervals: st.ScenarioIntervalSettings,
    metrics: tuple[str, ...],
    answers: pl.DataFrame,
    **keys: Any,
) -> pl.DataFrame:
    asked = tuple(st.METRICS[name] for name in metrics)
    runs = pl.lit(answers["run_id"].n_unique(), pl.Int64)
    found = st.of_scenarios(answers, asked, intervals, (), **keys)
    return found.with_columns(unit=pl.lit("scenario"), runs=runs)


def family_of(
    intervals: st.ScenarioIntervalSettings,
    settings: ArchitecturesSettings,
    answers: pl.DataFrame,
    **keys: Any,
) -> pl.DataFrame:
    """Rates per architecture, and how alike these are: not tested if rules were made in view."""
    answers = answers.sort(answers.columns)  # sums depend on the order in the last bit
    metrics = RATES if keys["study"] == RULES else RATES[:1]
    parts = []
    for part in answers.partition_by("architecture"):
        on_one = {**keys, "architecture": part["architecture"][0]}
        parts.append(rates(intervals, metrics, part, **on_one))
        if part["log"].n_unique() > 1:
            parts.append(over_logs(part, intervals.confidence, on_one))
    margin, confidence = settings.equivalence_margin, intervals.confidence
    alike = st.stability(answers, "architecture", margin, confidence, settings.power)
    compared = [
        each | {"architecture": name, "metric": AGAINST_OTHERS, "interval": "paired t"}
        for name, each in alike.against_others.items()
    ]
    verdict = {name: getattr(alike, name) for name in (*VERDICT, "n")}
    bounds = {"value": alike.spread, "ci_low": 0.0, "ci_high": alike.smallest_margin}
    labels = {"architecture": ALL, "metric": SPREAD, "interval": "upper bound by equivalence"}
    rows = pl.DataFrame([*compared, verdict | bounds | labels], infer_schema_length=None)
    if st.made_in_view(keys["method"]):
        rows = rows.with_columns(p=None, p_equivalence=None)
    same = {**keys, "unit": "scenario", "runs": answers["run_id"].n_unique()}
    shared = {name: pl.lit(value) for name, value in same.items()}
    return pl.concat([*parts, rows.with_columns(**shared)], how="diagonal_relaxed")


def over_logs(answers: pl.DataFrame, confidence: float, keys: Mapping[str, Any]) -> pl.DataFrame:
    """Accuracy with an interval over the noisy logs alone, the scenarios being given."""
    scenarios = answers.group_by("log", "scenario").agg(right=st.right().cast(pl.Float64).mean())
    logs = scenarios.group_by("log").agg(pl.col("right").mean()).sort("log")["right"].to_numpy()
    error = float(logs.std(ddof=1)) / float(np.sqrt(len(logs)))
    mean = st.ResampledMean(float(logs.mean()), error, len(logs) - 1)
    low, high = mean.interval(confidence)
    row = {"metric": OVER_LOGS, "value": mean.mean, "ci_low": low, "ci_high": high, "n": len(logs)}
    runs = answers["run_id"].n_unique()
    return pl.DataFrame([{**keys, **row, "unit": "noisy log", "runs": runs, "interval": "t"}])


def sizes(features: pl.DataFrame, rules: pl.DataFrame) -> pl.DataFrame:
    """How many parameters the models of each architecture have: median, smallest and largest."""
    recorded = features.join(rules.select("run_id").unique(), on="run_id", how="semi")
    count = pl.col("parameter_count")
    found = recorded.group_by("architecture").agg(
        value=count.median(), ci_low=count.min(), ci_high=count.max(), n=count.count()
    )
    words = AS_RECORDED | {"metric": "parameter_count", "unit": "run", "interval": "range"}
    named = {name: pl.lit(word) for name, word in words.items()}
    return found.sort("architecture").with_columns(runs="n", **named)


def printed(paper: st.Reported) -> Iterator[dict[str, Any]]:
    """What the paper prints of each architecture, as rows of a study of their own."""
    for name, row in paper.tables.architectures.rows.items():
        keys = {"study": "reported", "architecture": name}
        low, high = row.interval
        yield {**keys, "metric": "parameter_count", "value": row.parameters}
        yield {**keys, "metric": "macro_f1", "value": row.f1}
        yield {**keys, "metric": "accuracy", "value": row.accuracy, "ci_low": low, "ci_high": high}


def with_comparisons(found: st.Estimates, margin: float) -> st.Estimates:
    """With what tables show of all architectures: verdicts on equivalence, and extremes."""
    shown = pl.col("smallest_margin") <= margin
    widest = found.where(metric=SPREAD).frame.with_columns(
        shown=pl.when(pl.col("p_equivalence").is_not_null()).then(shown.cast(pl.Float64))
    )
    verdicts = widest.drop("metric", "value").unpivot(
        (*VERDICT, "shown"), index=(*FAMILY, "architecture"), variable_name="metric"
    )
    of_rates = found.frame.filter(pl.col("metric").is_in(RATES))
    several = of_rates.filter(pl.len().over(*FAMILY, "metric") > 1)
    extremes = several.group_by(*FAMILY, "metric").agg(
        pl.col("value").max() - pl.col("value").min(), architecture=pl.lit(EXTREMES)
    )
    return st.Estimates(pl.concat([found.frame, verdicts, extremes], how="diagonal_relaxed"))


def numbers(
    found: st.Estimates,
    predictions: pl.DataFrame,
    names: list[st.Architecture],
    settings: ArchitecturesSettings,
) -> dict[str, object]:
    repeats = predictions.group_by("study").agg(pl.col("repeat").n_unique())
    measured, reported = (
        [found.value(**keys, architecture=name, metric="accuracy") for name in names]
        for keys in (AS_RECORDED, {"study": "reported"})
    )
    return {
        "architectures": len(names),
        "low": 1 - settings.percentile,
        "repeats": dict(repeats.iter_rows()),
        "measured": {"lowest": min(measured), "highest": max(measured)},
        "reported": {"lowest": min(reported), "highest": max(reported)},
    }


FORMS: dict[str, st.Form] = {
    "measured": lambda parameters: f"{parameters / 1e6:.2f} M",
    "reported": lambda parameters: f"{parameters / 1e6:g} M",
}
"""How numbers of parameters are written."""


def tables(
    found: st.Estimates,
    said: st.Captions,
    names: list[st.Architecture],
    thresholds: Mapping[str, str],
    logs: Mapping[float, str],
) -> Iterator[st.Table]:
    """The rules on each architecture beside the paper's; how alike these are to every method."""
    body = [st.Row((HIGHEST, "", ""), {"architecture": EXTREMES})]
    for name in reversed(names):
        sizes = found.row(**AS_RECORDED, metric="accuracy", architecture=name) or {}
        texts = (st.ARCHITECTURE_LABELS[name], f"{sizes['n']}", f"{sizes['runs']}")
        body.insert(0, st.Row(texts, {"architecture": name}))
    n, runs = (st.Text(heading, align="right") for heading in ("n", "Runs"))
    of_paper = partial(st.Of, group="reported", keys={"study": "reported"})
    noisiest = max(logs)
    noisy = AS_RECORDED | {"noise": noisiest}
    form = FORMS["measured"]
    as_measured: dict[str, Any] = {"form": form, "keys": AS_RECORDED, "show": "value", "absent": ""}
    recorded = [
        st.Of(metric, heading, group, keys=AS_RECORDED | {"noise": noise})
        for noise, group in logs.items()
        for metric, heading in (("accuracy", "Accuracy"), ("macro_f1", "Macro-F1"))
    ]
    columns: list[st.Text | st.Of] = [
        st.Text("Architecture"),
        of_paper("parameter_count", "Parameters", form=FORMS["reported"], absent=""),
        of_paper("accuracy", "Accuracy"),
        of_paper("macro_f1", "F1"),
        st.Of("parameter_count", "Parameters", **as_measured),
        *recorded,
        st.Of(OVER_LOGS, "Accuracy over logs", logs[noisiest], keys=noisy, absent=""),
        *(n, runs),
    ]
    yield st.table("architectures", found, columns, body, said)
    recalibrated = [
        st.Of(metric, heading, group, keys=AS_RECORDED | {"thresholds": kind})
        for kind, group in thresholds.items()
        for metric, heading in (("accuracy", "Accuracy"), ("abstention_rate", "Abstention"))
    ]
    columns = [st.Text("Architecture"), *recalibrated, n]
    yield st.table("architecture_thresholds", found, columns, body, said)

    methods = st.in_label_order(found.where(study=st.LEFT_OUT).distinct("method"))
    left_out = {method: {"study": st.LEFT_OUT, "method": method} for method in methods}
    families = {
        f"{thresholds[kind]}; {logs[noise]}": AS_RECORDED | {"thresholds": kind, "noise": noise}
        for kind in thresholds
        for noise in (logs if kind == "reference" else (RECORDED,))
    }
    body = [stability_row(found, condition, keys) for condition, keys in families.items()]
    body += [stability_row(found, "architecture left out", keys) for keys in left_out.values()]
    notes = st.development_note(methods)
    yield st.table("architecture_stability", found, None, body, said, *notes)
    accuracy = partial(st.Of, "accuracy")
    columns = [
        st.Text("Method"),
        *(accuracy(st.ARCHITECTURE_LABELS[name], keys={"architecture": name}) for name in names),
        accuracy(HIGHEST, keys={"architecture": EXTREMES}),
        accuracy("All repeats", "main study", keys={"study": st.NESTED_CV}),
        accuracy("Equal repeats", "main study", keys={"study": st.SAME_REPEATS}),
    ]
    body = [st.Row(("Improved rules, reported",), {"study": "reported", "method": None})]
    body += [st.Row((st.method_label(method),), keys) for method, keys in left_out.items()]
    yield st.table("architectures_left_out", found, columns, body, said, *notes)


def stability_row(found: st.Estimates, condition: str, keys: Mapping[str, Any]) -> st.Row:
    """A row with the architecture that is farthest from the others."""
    against = found.where(**keys, metric=AGAINST_OTHERS).frame
    farthest = against["architecture"][against.select(pl.col("value").abs().arg_max()).item()]
    shown = found.row(**keys, architecture=ALL, metric="shown")
    alike = st.ABSENT if shown is None else ("yes" if shown["value"] else "no")
    texts = (st.method_label(keys["method"]), condition, st.ARCHITECTURE_LABELS[farthest], alike)
    return st.Row(texts, {**keys, "architecture": farthest})


def draw(
    found: st.Estimates,
    names: list[st.Architecture],
    settings: ArchitecturesSettings,
    figure: Figure,
) -> None:
    """A row per architecture, a panel per condition; the band is of equivalence to the mean."""
    noisiest = settings.noise[-1]
    percentile = f"improved rules, own\npercentile {100 * settings.percentile:g}"
    panels: dict[str, Mapping[str, Any]] = {
        "improved rules,\nlogs as recorded": AS_RECORDED,
        f"improved rules,\n{100 * noisiest:g} % noise": AS_RECORDED | {"noise": noisiest},
        percentile: AS_RECORDED | {"thresholds": "own_percentile"},
        "random forest,\narchitecture left out": {"study": st.LEFT_OUT, "method": FOREST},
    }
    drawn = pl.concat(
        found.where(**keys, metric="accuracy")
        .frame.filter(pl.col("architecture").is_in(names))
        .with_columns(panel=pl.lit(panel), row="architecture", mark="method")
        for panel, keys in panels.items()
    )
    rows: dict[str, str] = {name: st.ARCHITECTURE_LABELS[name] for name in names}
    marks = {method: st.METHOD_STYLES[method] for method in (RULES_METHOD, FOREST)}
    titles = {panel: panel for panel in panels}
    grid = st.dot_panels(figure, drawn, rows, marks, titles, spread=0.0)
    mean = drawn.filter(panel=next(iter(panels)))["value"].to_numpy().mean()
    low, high = (100 * (mean + sign * settings.equivalence_margin) for sign in (-1, 1))
    colour = st.METHOD_STYLES[RULES_METHOD].colour
    for axes in grid[:-1]:
        axes.axvspan(low, high, color=colour, alpha=0.12, linewidth=0)
    for position, name in enumerate(names):
        reported = found.value(study="reported", architecture=name, metric="accuracy")
        grid[0].plot(100 * reported, position, **st.REPORTED.look)
    grid[0].set_xlim(0, 100)
    n = " or ".join(str(size) for size in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {n} scenarios, with interval")
    margin = f"mean as recorded ± {100 * settings.equivalence_margin:g} points"
    handles = [
        *(mark.handle for mark in marks.values()),
        st.REPORTED.handle,
        Line2D([], [], color=st.GREY, label="value of the first panel"),
        Patch(color=colour, alpha=0.12, linewidth=0, label=margin),
    ]
    st.legend_outside(figure, handles, columns=3)


def metrics_of(estimates: pl.DataFrame) -> dict[str, Any]:
    """By thresholds, logs, architecture and metric, and what is learned by study and method."""
    logs = pl.col("noise").map_elements(
        lambda noise: "recorded" if noise == RECORDED else f"noise_{100 * noise:g}_percent",
        pl.String,
    )
    leaves, keys = (*st.ESTIMATE, *VERDICT), ("architecture", "metric")
    of_rules = estimates.filter(study=RULES).with_columns(logs=logs)
    learned = estimates.filter(pl.col("study") != RULES)
    return {
        RULES: st.nest(of_rules, "thresholds", "logs", *keys, leaves=leaves),
        **st.nest(learned, "study", "method", *keys, leaves=leaves),
    }


def main() -> None:
    said = st.Captions.read("architectures")
    files = st.across_architectures_files(st.read_names("methods"))
    rules = st.read_output(RULE_PREDICTIONS, RULE_PREDICTION_SCHEMA)
    predictions = pl.concat([st.read_across_architectures(), st.read_main_study(files)])
    features = read_features()
    paper = st.read_reported()
    settings = st.read_with_statistics("architectures", ArchitecturesSettings)
    limits = st.read_section("improved_rules", st.ImprovedRulesSettings)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    estimated = estimates(rules, predictions, features, intervals, settings, st.workers())
    # not rounded: of architectures that are almost as far from the others one is the farthest
    found = st.Estimates(estimated).plus(*printed(paper))
    found = with_comparisons(found, settings.equivalence_margin)
    names = [name for name in st.ARCHITECTURES if name in set(rules["architecture"])]
    named = numbers(found, predictions, names, settings)
    said = said.with_numbers(intervals, settings, limits, paper, named)
    deviations, percentile = f"{limits.healthy_sds:g} sd", f"{100 * settings.percentile:g}"
    thresholds = {
        "reference": f"Reference, mean + {deviations}",
        "own_deviations": f"Own, mean + {deviations}",
        "own_percentile": f"Own, percentile {percentile}",
        "own_percentile_and_limit": f"Own, percentile {percentile}, limit too",
    }
    logs = {RECORDED: "as recorded"}
    logs |= {level: f"noise {100 * level:g} %" for level in settings.noise}
    height, drawn = 1.0 + 0.22 * len(names), st.Estimates.of(found.frame)
    drawing = partial(draw, drawn, names, settings)
    st.publish(
        "architectures",
        metrics=metrics_of(estimated),
        points=estimated,
        tables=tables(found, said, names, thresholds, logs),
        figures={"architectures": said.picture("figure", height, drawing)},
        summary=estimated.filter(metric=SPREAD).select(
            "method", "thresholds", "noise", "value", "smallest_margin", "n"
        ),
    )


if __name__ == "__main__":
    st.run(main)
