"""Stage monitor: how often the monitor is right, by what, when, and how often it cries wolf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import polars as pl
from matplotlib.figure import Figure

from failbench import study as st
from failbench.monitor.records import scoring
from failbench.monitor.records.scoring import ScoringParams
from failbench.monitor.records.tables import MONITORED_SCHEMA
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, OWN, VERDICT_SCHEMA
from failbench.monitor.records.versions import read_rules
from recordings import read_scenarios_of
from shared import monitor_estimates as est

MONITORED = Path("data/monitor")
RUNS = Path("data/monitor/runs.parquet")
FROZEN = Path("data/monitor/frozen.json")
VERSIONS = Path("data/monitor/versions")
HALVES = Path("data/monitor/halves.csv")
HISTORY = Path("data/monitor/versions.csv")
COST = Path("data/monitor/cost.csv")
SCENARIOS = Path("data/scenarios")
MEASURED = Path("data/measurements/invariants")
PREDICTIONS = Path("data/predictions/nested_cv")

HISTORY_SCHEMA = pl.Schema(
    dict.fromkeys(("version", "date", "hash", "changed", "why", "first_scored"), pl.String())
)
FOREST = "random_forest"
METHODS = (
    *(name for name in st.MONITOR_METHODS if name != "ebm_on_invariants"),
    "simple_rules",
    "improved_rules",
    FOREST,
)
"""The last stand beside those that read what the monitor knows; the EBM on invariants
stands in the tables of the main study."""

OTHER_SET = "19+keywords"
"""The feature set of methods that do not read what the monitor knows: the error text is part."""

KEYS = ("version", "setting", "part", "name", "metric")
WHOLE = {"part": "whole", "name": "whole"}
SIZE = st.Text("Scenarios / runs", align="right")


def read_judged(runs: ScoringParams) -> list[scoring.VersionVerdicts]:
    """What each version of the rules says of the monitored runs."""
    breaks = st.read_output(MEASURED / "breaks.parquet", scoring.versioned(BREAK_SCHEMA))
    verdicts = st.read_output(MEASURED / "verdicts.parquet", scoring.versioned(VERDICT_SCHEMA))
    ends = st.read_output(MEASURED / "ends.parquet", END_SCHEMA)
    monitored = st.read_output(RUNS, MONITORED_SCHEMA).join(ends, on="run_id", how="semi")
    halves = st.read_points(HALVES, scoring.HALF_SCHEMA)
    known = scoring.labelled(monitored, read_scenarios_of(monitored, SCENARIOS), halves)
    judged = []
    for version in runs.versions:
        rules, broken = read_rules(MONITORED, version), breaks.filter(version=version)
        said = verdicts.filter(version=version)
        ended = ends.join(said, on="run_id", how="semi")
        judged.append(scoring.VersionVerdicts(rules, broken, said, ended, known))
    return judged


def settings_of(found: st.Estimates, version: str) -> list[str]:
    """Settings that a version judged: all together first, if there are several."""
    names = set(found.where(version=version).distinct("setting")) - {est.ALL_SETTINGS}
    return [*((est.ALL_SETTINGS,) if len(names) > 1 else ()), *sorted(names)]


def size(found: st.Estimates, **keys: str) -> str:
    """Scenarios and runs of an accuracy."""
    row = found.row(metric="accuracy", **keys)
    return st.ABSENT if row is None else f"{row['n']} / {row['runs']}"


def first_break(row: Mapping[str, Any]) -> str:
    if row["median"] is None:
        return st.ABSENT
    bounds = {"value": row["median"], "ci_low": row["low"], "ci_high": row["high"]}
    quartiles = st.estimate_text(bounds, "count")
    return f"{quartiles}; {row['before']} before, {row['never']} never"


def accuracies(places: Mapping[str, Mapping[str, str]]) -> list[st.Of]:
    """A column of accuracies for each heading, and the keys that they are looked up by."""
    return [st.Of("accuracy", heading, "Accuracy", keys=keys) for heading, keys in places.items()]


def rate_tables(
    found: st.Estimates,
    delayed: pl.DataFrame,
    said: st.Captions,
    runs: ScoringParams,
    reference: str,
) -> Iterator[st.Table]:
    """Every version, and the last one by setting and by whose bounds it had."""
    body: list[st.Row | st.Divider] = []
    for version in runs.versions:
        body.append(st.Divider(f"Version {version}"))
        for setting in settings_of(found, version):
            keys = {"version": version, "setting": setting}
            (delay,) = delayed.filter(**keys).to_dicts()
            texts = (setting, size(found, **keys, **WHOLE), first_break(delay))
            body.append(st.Row(texts, keys))
    places = {"at the failure": WHOLE}
    for half in get_args(scoring.Half):
        places[f"there, {half} half"] = {"part": "half", "name": half}
    places["whole log"] = {"part": "log", "name": "whole"}
    steps = (name for name in found.where(part="ahead").distinct("name") if name != "0")
    aheads = {name: {"part": "ahead", "name": name} for name in steps}
    columns: list[st.Text | st.Of] = [
        *(st.Text("Setting"), SIZE),
        *accuracies(places),
        st.Of("accuracy_when_committed", "When named", keys=WHOLE),
        st.Of("coverage", "Named", keys=WHOLE),
        *(replace(each, group="Accuracy, steps before failure") for each in accuracies(aheads)),
        st.Text("First break, steps after onset", align="right"),
    ]
    yield st.table("monitor", found, columns, body, said)

    last = runs.versions[-1]
    keys = {"version": last}
    bounds = {
        "own bounds": WHOLE,
        **{f"bounds of {name}": {"part": "borrowed", "name": name} for name in runs.lenders},
        "logic alone": {"part": est.LOGIC, "name": est.LOGIC},
    }
    less = {"part": est.LESS, "name": reference}
    apart = st.Of("difference", f"Own bounds, less {reference}", form="points", keys=less)
    columns = [st.Text("Setting"), SIZE, *accuracies(bounds), apart]
    rows = [
        st.Row((name, size(found, **keys, setting=name, **WHOLE)), {**keys, "setting": name})
        for name in settings_of(found, last)
    ]
    yield st.table("monitor_settings", found, columns, rows, said)


def other_tables(
    alarms: st.Estimates,
    methods: st.Estimates,
    history: pl.DataFrame,
    settings: list[str],
    lenders: tuple[str, ...],
    said: st.Captions,
) -> Iterator[st.Table]:
    """Healthy runs of which the last version names a category, versions, and fitted methods."""
    bounds = {est.LOGIC: "logic alone", OWN: "own bounds"}
    bounds |= {name: f"bounds of {name}" for name in lenders}
    body: list[tuple[str, ...] | st.Divider] = []
    for kind, label in said.labels("monitor_false_alarms").items():
        body.append(st.Divider(label))
        of_kind = alarms.where(kind=kind)
        for row in of_kind.where(bounds=OWN).frame.to_dicts():
            if row["setting"] in {*settings, est.OTHER_ARCHITECTURES}:
                cells = [of_kind.row(setting=row["setting"], bounds=each) for each in bounds]
                texts = (
                    f"{c['alarmed']}: {st.estimate_text(c)}" if c else st.ABSENT for c in cells
                )
                body.append((st.words(row["setting"]), str(row["n"]), *texts))
    rates = (st.Column(label, "Alarmed: percent") for label in bounds.values())
    columns = [st.Text("Setting"), st.Column("Runs"), *rates]
    yield st.sheet("monitor_false_alarms", body, said, columns=columns)

    first = pl.col("first_scored").fill_null(st.ABSENT).replace("", st.ABSENT)
    frozen = history.with_columns(pl.col("hash").str.head(12), first)
    yield st.sheet("monitor_versions", frozen.iter_rows(), said)

    rows = []
    for method in st.in_label_order(methods.distinct("method")):
        less = methods.cell("points", method="invariants", metric=f"less_{method}")
        labels = (st.method_label(method), st.reads_label(method), size(methods, method=method))
        rows.append(st.Row((*labels, less), {"method": method}))
    yield st.table("monitor_methods", methods, None, rows, said)


def detail_tables(
    found: st.Estimates,
    decided: pl.DataFrame,
    cost: pl.DataFrame,
    said: st.Captions,
    detailed: list[str],
) -> Iterator[st.Table]:
    """The last version: by category, what decided, what must be logged, what families are worth."""
    parts: dict[tuple[str, str], str] = {}
    parts |= {("component", name): label for name, label in st.CATEGORY_LABELS.items()}
    parts |= {("difficulty", level): st.words(level).capitalize() for level in st.DIFFICULTIES}
    begun = said.labels("monitor_components")
    parts |= {(est.FROM_START, name): label for name, label in begun.items()}
    halves = sorted(found.where(part="half").distinct("name"))
    parts |= {("half", half): f"{half.capitalize()} half" for half in halves}
    rows, everywhere = [], {"setting": est.ALL_SETTINGS}
    for (part, name), label in parts.items():
        keys = {"part": part, "name": name}
        rows.append(st.Row((label, size(found, **everywhere, **keys)), keys))
    sizes = st.Text("Scenarios / runs, all settings", align="right")
    of_settings = accuracies({each: {"setting": each} for each in detailed})
    columns: list[st.Text | st.Of] = [st.Text("Scenarios"), sizes, *of_settings]
    yield st.table("monitor_components", found, columns, rows, said)

    order = (pl.col("right") + pl.col("wrong"), "decided_by")
    counts = decided.group_by("decided_by", "decided_kind").agg(pl.col("right", "wrong").sum())
    ranked = counts.sort(order, descending=[True, False]).iter_rows()
    body = [(st.words(by), kind, *map(str, numbers)) for by, kind, *numbers in ranked]
    yield st.sheet("monitor_decisive", body, said)

    times = sorted(cost["nominal_milliseconds"].unique())
    ratios = cost.rows_by_key(("rung", "nominal_milliseconds"), named=True)
    rows = []
    for rung in scoring.LADDER:
        taken = (ratios.get((rung.name, time)) for time in times)
        texts = (f"{each[-1]['ratio']:.2f}" if each else st.ABSENT for each in taken)
        rows.append(st.Row((rung.label, *texts), {"part": "rung", "name": rung.name}))
    columns = [st.Text("What is logged")]
    for setting in detailed:
        keys = {"setting": setting}
        columns.append(st.Of("accuracy", "Accuracy", setting, keys=keys))
        columns.append(st.Of("coverage", "Named", setting, keys=keys))
    columns += [st.Text(f"{time:g} ms", "Time, steps of", "right") for time in times]
    yield st.table("monitor_ladder", found, columns, rows, said)

    lost = found.where(part="family", setting=est.ALL_SETTINGS).frame
    families = lost.sort("value", "name", descending=[True, False])["name"]
    cost_of = (replace(each, metric="lost", group="Lost", form="points") for each in of_settings)
    columns = [st.Text("Family left out"), *cost_of]
    rows = st.rows("name", {name: st.words(name) for name in families}, part="family")
    yield st.table("monitor_families", found, columns, rows, said)


def numbers(
    found: st.Estimates,
    alarms: st.Estimates,
    blind: Mapping[str, Any],
    runs: ScoringParams,
    reference: str,
) -> dict[str, object]:
    """What captions and the finding say of the first, the last and the blind version."""

    def of(version: str) -> dict[str, object]:
        at = {"version": version, "setting": reference}
        return {
            "version": version,
            "whole": found.row(**at, **WHOLE, metric="accuracy"),
            "ending": found.row(**at, part="rung", name=scoring.LADDER[0].name, metric="accuracy"),
            "twins": alarms.row(**at, kind="twin", bounds=OWN),
        }

    first, last = runs.versions[0], runs.versions[-1]
    differs = blind and not blind["difference"]["ci_low"] <= 0 <= blind["difference"]["ci_high"]
    return {
        "reference": reference,
        "halves": " and ".join(runs.halves) + (" half" if len(runs.halves) == 1 else " halves"),
        "blind": blind,
        "differs": differs,
        "unseen": of(est.UNSEEN[0]),
        "first": of(first),
        "last": of(last),
        "later": first != last,
    }


def draw(found: st.Estimates, rows: Mapping[str, str], reference: str, figure: Figure) -> None:
    """A row for each rung of what is logged, which is all of those above and what it adds."""
    axes = figure.subplots()
    marks = {
        reference: st.Mark(f"{reference} (in-sample)", st.BLUE, "o", "none"),
        est.ALL_SETTINGS: st.Mark("all settings (in-sample)", st.BLACK, "D", "none"),
    }
    drawn = found.where(part="rung").frame.with_columns(row="name", mark="setting")
    st.dot_plot(axes, drawn, rows, marks, spread=0.4)
    axes.set(xlim=(0, 100), xlabel="accuracy in percent, abstentions wrong, with interval")
    st.legend_outside(figure, marks.values(), columns=2)


def nested(measured: pl.DataFrame, delayed: pl.DataFrame, alarmed: pl.DataFrame) -> dict[str, Any]:
    """Rates by version and setting, with first breaks and false alarms beside them."""
    metrics = st.nest(measured, *KEYS)
    leaves = ("median", "low", "high", "before", "never", "runs")
    breaks = st.nest(delayed, "version", "setting", leaves=leaves)
    alarms = st.nest(alarmed, "version", "setting", "kind", "bounds")
    for version, of_settings in metrics.items():
        for setting, parts in of_settings.items():
            parts["first_break"] = breaks[version][setting]
            if setting in alarms.get(version, {}):
                parts["false_alarms"] = alarms[version][setting]
    other = est.OTHER_ARCHITECTURES
    elsewhere = {version: each[other] for version, each in alarms.items() if other in each}
    return {"versions": metrics, "elsewhere": elsewhere}


def main() -> None:
    runs = st.read_section("monitor", ScoringParams)
    reference = st.read_section("nested_cv", st.ReferenceStudy).name
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    said = st.Captions.read("monitor", intervals)
    judged = read_judged(runs)
    asked = set(METHODS) & {*st.read_names("methods"), *chain.from_iterable(runs.contrasts), FOREST}
    answers = st.read_outputs(PREDICTIONS, asked, st.PREDICTION_SCHEMA)
    forest = answers.filter(method=FOREST, feature_set=st.PRIMARY_SET)
    predictions = answers.filter(feature_set=OTHER_SET)
    history = st.read_points(HISTORY, HISTORY_SCHEMA)
    cost = st.read_points(COST, scoring.COST_SCHEMA)

    of_runs = (runs, reference, intervals, st.workers())
    measured = pl.concat(part for each in judged for part in est.rates(each, *of_runs))
    alarms_of = partial(est.false_alarms, lenders=runs.lenders, reference=reference)
    alarmed = pl.concat(alarms_of(each, confidence=intervals.confidence) for each in judged)
    delayed = pl.concat(part for each in judged for part in est.delays(each))
    decided = pl.concat(est.decisive(each) for each in judged)
    by_method = pl.concat(est.of_methods(predictions, runs.contrasts, intervals))
    held = est.blind_rates(judged, forest, reference, intervals)
    blind = st.nest(st.estimate_rows(held), "metric") if held else {}

    found, alarms = st.Estimates(measured), st.Estimates(alarmed)
    last, methods = runs.versions[-1], st.Estimates(by_method)
    of_last, alarms_of_last = found.where(version=last), alarms.where(version=last)
    settings = settings_of(found, last)
    detailed = [name for name in settings if name in {est.ALL_SETTINGS, reference}] or settings
    named = numbers(found, alarms, blind, runs, reference)
    said = said.with_numbers(named, {"versions": st.counted(history.height, "version")})
    accuracy = st.Estimates.of(measured).where(version=last, metric="accuracy")
    known = set(accuracy.distinct("name"))
    rungs = {rung.name: rung.label for rung in scoring.LADDER}
    rows = {name: label for name, label in rungs.items() if name in known}
    drawing = partial(draw, accuracy, rows, reference)
    st.publish(
        "monitor",
        metrics={
            **nested(measured, delayed, alarmed),
            "methods": st.nest(by_method, "method", "metric"),
            "blind": blind,
        },
        points={
            "monitor": measured,
            "monitor_decisive": decided,
            "monitor_methods": by_method,
            "monitor_first_break": delayed,
            "monitor_false_alarms": alarmed,
        },
        tables=[
            *rate_tables(found, delayed, said, runs, reference),
            *detail_tables(of_last, decided.filter(version=last), cost, said, detailed),
            *other_tables(alarms_of_last, methods, history, settings, runs.lenders, said),
        ],
        figures={"monitor": said.picture("figure", 0.6 + 0.25 * len(rows), drawing)},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=measured.filter(part="whole").select(*KEYS, "value", "ci_low", "ci_high", "runs"),
    )


if __name__ == "__main__":
    st.run(main)
