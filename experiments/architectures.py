"""Stage architectures: whether the improved rules are worth the same on every architecture."""

from __future__ import annotations

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

from failbench.base.errors import BadInputError
from failbench.base.method_settings import ImprovedRulesSettings
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.scenarios import ARCHITECTURES, Architecture
from failbench.base.stage import read_names, read_output, read_outputs, read_section, workers
from failbench.base.studies import (
    LEFT_OUT,
    NESTED_CV,
    SAME_REPEATS,
    across_architectures_files,
    same_repeats,
)
from failbench.base.vocabulary import PRIMARY_SET
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.statistics.intervals import ESTIMATE, ScenarioIntervalSettings, nest
from failbench.statistics.metrics import METRICS
from failbench.statistics.paired_tests import ResampledMean, stability
from failbench.statistics.settings import read_statistics, read_with_statistics
from failbench.study import (
    Captions,
    Estimates,
    Of,
    Row,
    Text,
    n_of,
    of_groups,
    of_scenarios,
    publish,
    read_reported,
    run,
    table,
)
from failbench.study.dot_plot import dot_panels
from failbench.study.labels import (
    ARCHITECTURE_LABELS,
    in_label_order,
    made_in_view,
    method_label,
)
from failbench.study.method_styles import METHOD_STYLES
from failbench.study.notes import development_note
from failbench.study.paper_numbers import Reported, reported_number
from failbench.study.picture import legend_outside
from failbench.study.plain_table import Table
from failbench.study.style import GREY, REPORTED
from shared.architectures import RECORDED, RULE_PREDICTION_SCHEMA, RULES, ArchitecturesDesign

RULE_PREDICTIONS = Path("data/predictions/architectures/improved_rules.parquet")
ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")
MAIN_STUDY = Path("data/predictions/nested_cv")
FEATURES = Path("data/features/features.parquet")

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
    intervals: ScenarioIntervalSettings,
    settings: ArchitecturesSettings,
    workers: int = 1,
) -> pl.DataFrame:
    """Every rate with its interval, how alike the architectures are, and how large their models.

    Methods that architectures are left out of stand beside themselves in the main study, which
    knows one architecture.
    """
    on_features = predictions.filter(feature_set=PRIMARY_SET)
    main, left_out = (on_features.filter(study=name) for name in (NESTED_CV, LEFT_OUT))
    if left_out.is_empty():
        raise BadInputError(
            "predictions",
            "study",
            f"there are none of {LEFT_OUT} on the paper's features.",
            "Run `dvc repro` for the stage that leaves architectures out.",
        )
    learned = left_out.with_columns(
        thresholds=pl.lit("left_out"), noise=pl.lit(RECORDED), log=pl.lit(0, pl.Int32)
    )
    answers = [*FAMILY, "architecture", "category", "scenario", "repeat", "log", "run_id"]
    answers += ["seed", "prediction"]
    families = pl.concat([rules.select(answers), learned.select(answers)])
    asked = main.join(left_out, on="method", how="semi")
    beside = pl.concat([asked, same_repeats(main, left_out)])
    return pl.concat(
        [
            of_groups(families, FAMILY, partial(family_of, intervals, settings), workers),
            of_groups(
                beside.with_columns(thresholds="study", noise=pl.lit(RECORDED)),
                (*FAMILY, "architecture"),
                partial(rates, intervals, RATES[:1]),
                workers,
            ),
            sizes(features, rules),
        ],
        how="diagonal_relaxed",
    ).select(*FAMILY, "architecture", "metric", *ESTIMATED)


def rates(
    intervals: ScenarioIntervalSettings,
    metrics: tuple[str, ...],
    answers: pl.DataFrame,
    **keys: Any,
) -> pl.DataFrame:
    asked = tuple(METRICS[name] for name in metrics)
    runs = pl.lit(answers["run_id"].n_unique(), pl.Int64)
    found = of_scenarios(answers, asked, intervals, (), **keys)
    return found.with_columns(unit=pl.lit("scenario"), runs=runs)


def family_of(
    intervals: ScenarioIntervalSettings,
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
    alike = stability(answers, "architecture", margin, confidence, settings.power)
    compared = [
        vars(each) | {"architecture": name, "metric": AGAINST_OTHERS, "interval": "paired t"}
        for name, each in alike.against_others.items()
    ]
    verdict = {name: getattr(alike, name) for name in (*VERDICT, "n")}
    bounds = {"value": alike.spread, "ci_low": 0.0, "ci_high": alike.smallest_margin}
    labels = {"architecture": ALL, "metric": SPREAD, "interval": "upper bound by equivalence"}
    rows = pl.DataFrame([*compared, verdict | bounds | labels], infer_schema_length=None)
    if made_in_view(keys["method"]):
        rows = rows.with_columns(p=None, p_equivalence=None)
    same = {**keys, "unit": "scenario", "runs": answers["run_id"].n_unique()}
    shared = {name: pl.lit(value) for name, value in same.items()}
    return pl.concat([*parts, rows.with_columns(**shared)], how="diagonal_relaxed")


def over_logs(answers: pl.DataFrame, confidence: float, keys: Mapping[str, Any]) -> pl.DataFrame:
    """Accuracy with an interval over the noisy logs alone, the scenarios being given."""
    right = (pl.col("prediction") == pl.col("category")).cast(pl.Float64).mean()
    scenarios = answers.group_by("log", "scenario").agg(right=right)
    logs = scenarios.group_by("log").agg(pl.col("right").mean()).sort("log")["right"].to_numpy()
    error = float(logs.std(ddof=1)) / float(np.sqrt(len(logs)))
    mean = ResampledMean(float(logs.mean()), error, len(logs) - 1)
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


def printed(paper: Reported) -> Iterator[dict[str, Any]]:
    """What the paper prints of each architecture, as rows of a study of their own."""
    for name, row in paper.tables.architectures.rows.items():
        keys = {"study": "reported", "architecture": name}
        low, high = row.interval
        yield {**keys, "metric": "parameter_count", "value": row.parameters}
        yield {**keys, "metric": "macro_f1", "value": row.f1}
        yield {**keys, "metric": "accuracy", "value": row.accuracy, "ci_low": low, "ci_high": high}


def with_comparisons(found: Estimates, margin: float) -> Estimates:
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
    return Estimates(pl.concat([found.frame, verdicts, extremes], how="diagonal_relaxed"))


def numbers(
    found: Estimates,
    predictions: pl.DataFrame,
    paper: Reported,
    names: list[Architecture],
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
        "place": paper.tables.architectures.place,
        "claimed": reported_number(paper, "architecture_range"),
        "repeats": dict(repeats.iter_rows()),
        "measured": {"lowest": min(measured), "highest": max(measured)},
        "reported": {"lowest": min(reported), "highest": max(reported)},
    }


def millions(parameters: float) -> str:
    return f"{parameters / 1e6:.2f} M"


def whole_millions(parameters: float) -> str:
    return f"{parameters / 1e6:g} M"


def yes_or_no(shown: float) -> str:
    return "yes" if shown else "no"


def tables(
    found: Estimates,
    said: Captions,
    names: list[Architecture],
    thresholds: Mapping[str, str],
    logs: Mapping[float, str],
) -> Iterator[Table]:
    """The rules on each architecture, beside what the paper reports; then every method."""
    body = [Row((HIGHEST, "", ""), {"architecture": EXTREMES})]
    for name in reversed(names):
        sizes = found.row(**AS_RECORDED, metric="accuracy", architecture=name) or {}
        texts = (ARCHITECTURE_LABELS[name], f"{sizes['n']}", f"{sizes['runs']}")
        body.insert(0, Row(texts, {"architecture": name}))
    n, runs = (Text(heading, align="right") for heading in ("n", "Runs"))
    of_paper = partial(Of, group="reported", keys={"study": "reported"})
    noisiest = max(logs)
    measured = partial(Of, absent="")
    recorded = [
        Of(metric, heading, group, keys=AS_RECORDED | {"noise": noise})
        for noise, group in logs.items()
        for metric, heading in (("accuracy", "Accuracy"), ("macro_f1", "Macro-F1"))
    ]
    columns: list[Text | Of] = [
        Text("Architecture"),
        of_paper("parameter_count", "Parameters", form=whole_millions, absent=""),
        of_paper("accuracy", "Accuracy"),
        of_paper("macro_f1", "F1"),
        measured("parameter_count", "Parameters", form=millions, keys=AS_RECORDED, show="value"),
        *recorded,
        measured(
            OVER_LOGS, "Accuracy over logs", logs[noisiest], keys=AS_RECORDED | {"noise": noisiest}
        ),
        n,
        runs,
    ]
    yield table("architectures", found, columns, body, said)
    recalibrated = [
        Of(metric, heading, group, keys=AS_RECORDED | {"thresholds": kind})
        for kind, group in thresholds.items()
        for metric, heading in (("accuracy", "Accuracy"), ("abstention_rate", "Abstention"))
    ]
    columns = [Text("Architecture"), *recalibrated, n]
    yield table("architecture_thresholds", found, columns, body, said)
    yield from tables_of_methods(found, said, names, thresholds, logs)


def tables_of_methods(
    found: Estimates,
    said: Captions,
    names: list[Architecture],
    thresholds: Mapping[str, str],
    logs: Mapping[float, str],
) -> Iterator[Table]:
    """How alike architectures are to the rules and to every method, and what these reach."""
    methods = in_label_order(found.where(study=LEFT_OUT).distinct("method"))
    left_out = {method: {"study": LEFT_OUT, "method": method} for method in methods}
    families = {
        f"{thresholds[kind]}; {logs[noise]}": AS_RECORDED | {"thresholds": kind, "noise": noise}
        for kind in thresholds
        for noise in (logs if kind == "reference" else (RECORDED,))
    }
    overall = partial(Of, keys={"architecture": ALL})
    equivalence = partial(overall, group="equivalence of every pair")
    columns: list[Text | Of] = [
        Text("Method"),
        Text("Thresholds and logs, or training"),
        overall(SPREAD, HIGHEST, show="value"),
        Text("Farthest"),
        Of(AGAINST_OTHERS, "from the others"),
        equivalence("p_equivalence", "p", form="three"),
        equivalence("shown", "shown", form=yes_or_no),
        equivalence("smallest_margin", "smallest margin"),
        overall("detectable", "Detectable"),
        n_of(SPREAD, architecture=ALL),
    ]
    body = [stability_row(found, condition, keys) for condition, keys in families.items()]
    body += [stability_row(found, "architecture left out", keys) for keys in left_out.values()]
    notes = development_note(methods)
    yield table("architecture_stability", found, columns, body, said, *notes)
    accuracy = partial(Of, "accuracy")
    columns = [
        Text("Method"),
        *(accuracy(ARCHITECTURE_LABELS[name], keys={"architecture": name}) for name in names),
        accuracy(HIGHEST, keys={"architecture": EXTREMES}),
        accuracy("All repeats", "main study", keys={"study": NESTED_CV}),
        accuracy("Equal repeats", "main study", keys={"study": SAME_REPEATS}),
    ]
    body = [Row(("Improved rules, reported",), {"study": "reported", "method": None})]
    body += [Row((method_label(method),), keys) for method, keys in left_out.items()]
    yield table("architectures_left_out", found, columns, body, said, *notes)


def stability_row(found: Estimates, condition: str, keys: Mapping[str, Any]) -> Row:
    """A row with the architecture that is farthest from the others."""
    against = found.where(**keys, metric=AGAINST_OTHERS).frame
    farthest = against["architecture"][against.select(pl.col("value").abs().arg_max()).item()]
    texts = (method_label(keys["method"]), condition, ARCHITECTURE_LABELS[farthest])
    return Row(texts, {**keys, "architecture": farthest})


def draw(
    found: Estimates, names: list[Architecture], settings: ArchitecturesSettings, figure: Figure
) -> None:
    """A row per architecture and a panel per condition.

    The band is the margin of equivalence about the mean of the rules' accuracies as recorded.
    """
    noisiest = settings.noise[-1]
    panels: dict[str, Mapping[str, Any]] = {
        "improved rules,\nlogs as recorded": AS_RECORDED,
        f"improved rules,\n{100 * noisiest:g} % noise": AS_RECORDED | {"noise": noisiest},
        f"improved rules, own\npercentile {100 * settings.percentile:g}": AS_RECORDED
        | {"thresholds": "own_percentile"},
        "random forest,\narchitecture left out": {"study": LEFT_OUT, "method": FOREST},
    }
    drawn = pl.concat(
        found.where(**keys, metric="accuracy")
        .frame.filter(pl.col("architecture").is_in(names))
        .with_columns(panel=pl.lit(panel), row="architecture", mark="method")
        for panel, keys in panels.items()
    )
    grid = dot_panels(
        figure,
        drawn,
        {name: ARCHITECTURE_LABELS[name] for name in names},
        {method: METHOD_STYLES[method] for method in (RULES_METHOD, FOREST)},
        {panel: panel for panel in panels},
        spread=0.0,
    )
    mean = drawn.filter(panel=next(iter(panels)))["value"].to_numpy().mean()
    low, high = (100 * (mean + sign * settings.equivalence_margin) for sign in (-1, 1))
    colour = METHOD_STYLES[RULES_METHOD].colour
    for axes in grid[:-1]:
        axes.axvspan(low, high, color=colour, alpha=0.12, linewidth=0)
    for position, name in enumerate(names):
        reported = found.value(study="reported", architecture=name, metric="accuracy")
        grid[0].plot(100 * reported, position, **REPORTED.look)
    grid[0].set_xlim(0, 100)
    n = " or ".join(str(size) for size in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {n} scenarios, with interval")
    margin = f"mean as recorded ± {100 * settings.equivalence_margin:g} points"
    handles = [
        REPORTED.handle,
        Line2D([], [], color=GREY, label="value of the first panel"),
        Patch(color=colour, alpha=0.12, linewidth=0, label=margin),
    ]
    legend_outside(figure, handles, columns=3)


def metrics_of(estimates: pl.DataFrame) -> dict[str, Any]:
    """``{rules: {thresholds: {logs: {architecture: {metric: leaf}}}}}``.

    And ``{study: {method: {architecture: {metric: leaf}}}}`` of what is learned.
    """
    logs = (
        pl.when(pl.col("noise") == RECORDED)
        .then(pl.lit("recorded"))
        .otherwise(
            pl.format(
                "noise_{}_percent", (100 * pl.col("noise")).map_elements("{:g}".format, pl.String)
            )
        )
    )
    leaves, keys = (*ESTIMATE, *VERDICT), ("architecture", "metric")
    of_rules = estimates.filter(study=RULES).with_columns(logs=logs)
    learned = estimates.filter(pl.col("study") != RULES)
    return {
        RULES: nest(of_rules, "thresholds", "logs", *keys, leaves=leaves),
        **nest(learned, "study", "method", *keys, leaves=leaves),
    }


def main() -> None:
    files = across_architectures_files(read_names("methods"))
    rules = read_output(RULE_PREDICTIONS, RULE_PREDICTION_SCHEMA)
    predictions = pl.concat(
        read_outputs(folder, files, PREDICTION_SCHEMA)
        for folder in (ACROSS_ARCHITECTURES, MAIN_STUDY)
    )
    features = read_output(FEATURES, FEATURE_SCHEMA)
    paper = read_reported()
    settings = read_with_statistics("architectures", ArchitecturesSettings)
    limits = read_section("improved_rules", ImprovedRulesSettings)
    intervals = read_statistics(ScenarioIntervalSettings)
    estimated = estimates(rules, predictions, features, intervals, settings, workers())
    # not rounded: of architectures that are almost as far from the others one is the farthest
    found = Estimates(estimated).plus(*printed(paper))
    found = with_comparisons(found, settings.equivalence_margin)
    names = [name for name in ARCHITECTURES if name in set(rules["architecture"])]
    said = Captions.read(
        "architectures",
        intervals,
        settings,
        limits,
        numbers(found, predictions, paper, names, settings),
    )
    deviations, percentile = f"{limits.healthy_sds:g} sd", f"{100 * settings.percentile:g}"
    thresholds = {
        "reference": f"Reference, mean + {deviations}",
        "own_deviations": f"Own, mean + {deviations}",
        "own_percentile": f"Own, percentile {percentile}",
        "own_percentile_and_limit": f"Own, percentile {percentile}, limit too",
    }
    logs = {RECORDED: "as recorded"} | {
        level: f"noise {100 * level:g} %" for level in settings.noise
    }
    publish(
        "architectures",
        metrics=metrics_of(estimated),
        points=estimated,
        tables=tables(found, said, names, thresholds, logs),
        figures={
            "architectures": said.picture(
                "figure",
                1.0 + 0.22 * len(names),
                partial(draw, Estimates.of(found.frame), names, settings),
            )
        },
        summary=estimated.filter(metric=SPREAD).select(
            "method", "thresholds", "noise", "value", "smallest_margin", "n"
        ),
    )


if __name__ == "__main__":
    run(main)
