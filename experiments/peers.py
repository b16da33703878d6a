"""Stage peers: what other tools make of the benchmark's runs, and ours beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from failbench import study as st
from failbench.base.telemetry import RUN_SCHEMA, read_table
from failbench.neighbours.peers.rules import ALARM_SCHEMA, SCOPES, peer_rules, rules_of
from failbench.neighbours.peers.verdicts import (
    DOCUMENTED,
    OBJECTIVES,
    VERDICT_SCHEMA,
    refuse_unmapped,
    standards,
    with_best_thresholds,
)
from failbench.neighbours.rendering.run import COMPLETE
from shared import peers_answers as answers
from shared.peers import BREAKS, LOG_ANSWERS, SAID_SCHEMA, PeersStudy
from shared.peers_rules import rule_counts, rule_tables, scope_counts

RUNS = Path("data/telemetry/runs.parquet")
SCENARIOS = Path("data/scenarios")
ALARMS = Path("data/measurements/peers/alarms.parquet")
SKILL = Path("data/measurements/peers/skill.parquet")
VERDICTS = Path("data/peers")
PREDICTIONS = Path("data/predictions/nested_cv")
BREAKS_OF_MONITOR = Path("data/measurements/invariants/verdicts.parquet")
LOGS = Path("data/measurements/diagnose_logs/answers.parquet")

DETECTED = pl.col("detected")


def rate_table(
    said: pl.DataFrame, runs: pl.DataFrame, intervals: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates by choice of thresholds; how early alarms come is told of documented ones alone."""
    labelled = said.join(runs, on="run_id")
    groups = labelled.group_by("choice", "method", maintain_order=True)
    return pl.concat(
        st.estimate_rows(
            rates_of(group, intervals, whole=choice == DOCUMENTED), choice=choice, method=method
        )
        for (choice, method), group in groups
    )


def rates_of(
    said: pl.DataFrame, intervals: st.ScenarioIntervalSettings, *, whole: bool
) -> dict[str, st.Interval]:
    """Categories of failing runs and, of those who are not told that a run failed, alarms."""
    failing, named = said.filter(kind="failure"), pl.col("prediction") != st.ABSTAIN
    watched, alarmed = failing.filter(DETECTED.is_not_null()), failing.filter(DETECTED)
    is_timed = whole and alarmed["step"].is_not_null().any()
    rightly = "probability that the category of a run of a new scenario is named right"
    at_all = "probability that a category is named of it"
    figures = [
        st.proportion("accuracy", st.over_scenarios(failing, st.right()), rightly),
        st.proportion("named", st.over_scenarios(failing, named), at_all),
    ]
    if failing.filter(named).height:
        given = "probability that its category is right, given that one is named"
        committed = st.over_committed(failing, st.right())
        figures.append(st.proportion("named_accuracy", committed, given))
    if watched.height:
        alarm = "probability of an alarm in a failing run of a new scenario"
        figures.append(st.proportion("detected", st.over_scenarios(watched, DETECTED), alarm))
        figures += pair_figures(said, whole=whole)
    if whole and failing["conditions"].is_not_null().any():
        checked = st.over_scenarios(failing, pl.col("conditions"))
        what = "conditions to check in order to verify what is said of a run of a new scenario"
        figures.append(st.ValueMetric("conditions", checked, what))
    if is_timed:
        early = st.over_those(failing, pl.col("step") < pl.col("onset_step"), DETECTED)
        given = "probability that the first alarm precedes the fault, given that there is one"
        figures.append(st.proportion("premature", early, given))
    rates = dict(st.scenario_intervals(st.scenario_answers(failing), (), intervals, tuple(figures)))
    for kind in ("success", "twin"):
        healthy = said.filter(DETECTED.is_not_null(), kind=kind)
        if healthy.height:
            share = st.wilson_share(healthy, DETECTED, "run_id", intervals.confidence)
            size = (share["n"], intervals.confidence, "run")
            what = "probability of an alarm in a healthy run"
            rates[f"alarm_{kind}"] = st.wilson_interval(share["value"], *size, what)
    if is_timed:
        rates["lead"] = st.lead_interval(failing, intervals)
    return rates


def pair_figures(said: pl.DataFrame, *, whole: bool) -> Iterator[st.ValueMetric]:
    """How much more often failing runs are alarmed than twins, and F1 of alarms."""
    pair, alarm = ["scenario", "seed"], DETECTED.cast(pl.Float64)
    watched = said.filter(DETECTED.is_not_null())
    twins = watched.filter(kind="twin").group_by(pair).agg(twin=alarm.mean())
    pairs = watched.filter(kind="failure").join(twins, on=pair, how="left", maintain_order="left")
    what = "difference in the probability of an alarm between a failing run and its healthy twin"
    yield st.ValueMetric("gain", st.over_scenarios(pairs, alarm - pl.col("twin")), what)
    if whole:
        hits = st.over_those(hits_of(pairs), pl.col("is_hit"), pl.col("counts"))
        what = "F1 of alarms in failing runs of new scenarios and their healthy twins"
        yield st.ValueMetric("f1", hits, what)


def hits_of(pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of which F1 is the share that hits: 2 TP of 2 TP + FN + FP.

    A pair has a row for its failing run, which hits if that is alarmed, a second such row if it is,
    and one that never hits if its twin is alarmed.
    """
    is_pair = pl.col("twin").is_not_null()
    hit, false_alarm = is_pair & DETECTED, is_pair & (pl.col("twin") > 0)
    rows = ((is_pair, hit), (hit, hit), (false_alarm, pl.lit(False)))
    return pl.concat(
        pairs.with_columns(counts=counts.fill_null(False), is_hit=is_hit.fill_null(False))
        for counts, is_hit in rows
    )


def detail_table(said: pl.DataFrame, runs: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Detection and accuracy by the category of the cause, and by how runs end."""
    failing = said.join(runs.filter(kind="failure"), on="run_id")
    groups = {str(category): pl.col("category") == category for category in st.CATEGORIES}
    groups |= {"ends_itself": pl.col("ends_itself"), "runs_on": ~pl.col("ends_itself")}
    figures, rows = {"detected": DETECTED, "accuracy": st.right()}, []
    for (method,), of_method in failing.group_by("method", maintain_order=True):
        for (group, is_member), (metric, figure) in product(groups.items(), figures.items()):
            known = of_method.filter(is_member, figure.is_not_null())
            if known.height:
                keys = {"method": method, "group": group, "metric": metric}
                share = st.wilson_share(known, figure, "scenario", confidence)
                rows.append({**keys, **share, "runs": known["run_id"].n_unique()})
    return pl.DataFrame(rows)


def label(method: str) -> str:
    """What a tool or a method is called in tables."""
    peer, *asked = method.split(":")
    if method == answers.PACKAGE:
        return "failbench diagnose"
    if peer not in standards():
        return st.method_label(method)
    if not asked:
        return standards()[peer].label
    as_read = ", as read" if asked[1:] else ""
    return f"{standards()[peer].label} in {architecture(method)}{as_read}"


def architecture(method: str) -> str:
    labels = {str(name): label for name, label in st.ARCHITECTURE_LABELS.items()}
    return labels[method.split(":")[1].partition("-")[0]]


def numbers(
    rates: Mapping[str, Any],
    runs: pl.DataFrame,
    elsewhere_runs: pl.DataFrame,
    sizes: Mapping[str, Mapping[str, int]],
    groups: Mapping[str, list[str]],
    scopes: pl.DataFrame,
) -> dict[str, object]:
    documented, scope = rates[DOCUMENTED], st.Scope.of(runs.filter(kind="failure"))
    peers = groups["rules"] + groups["tools"]

    def highest(methods: list[str], metric: str) -> dict[str, Any]:
        best = min(methods, key=lambda name: (-documented[name][metric]["value"], name))
        return {"label": label(best), **documented[best]}

    def size(methods: list[str]) -> str:
        return ", ".join(
            f"{kinds.get('failure', 0)} failing runs and {kinds.get('twin', 0)} healthy twins "
            f"of {architecture(method)}"
            for method, kinds in sizes.items()
            if method in methods
        )

    def share_of(category: str, runs: pl.DataFrame) -> float:
        scenarios = runs.filter(kind="failure").select("scenario", "category").unique()
        return scenarios.filter(category=category).height / max(scenarios.height, 1)

    read = [method for method in groups["elsewhere"] if method.endswith(":read")]
    asked = [method for method in groups["elsewhere"] if method not in read]
    sentences = []
    for method in asked:
        of_method = {
            "label": label(method),
            "failing": sizes[method]["failure"],
            "all": documented[method],
            "read_failing": sizes.get(f"{method}:read", {}).get("failure"),
            "read": documented.get(f"{method}:read"),
        }
        sentences.append(st.Captions.read("peers", of_method).text("finding", "elsewhere"))
    kinds = dict(runs.group_by("kind").len().iter_rows())
    gains = [of["gain"] for of in rates["best_detection"].values()]
    f1_of_read = (st.estimate_text(documented[method]["f1"]) for method in read)
    return {
        "failing": scope.runs,
        "twins": kinds["twin"],
        "successes": kinds["success"],
        **{name: getattr(scope, name) for name in ("scenarios", "seeds", "setting")},
        "optimization": share_of("optimization", runs),
        "elsewhere": " ".join(sentences),
        "asked": size(asked),
        "read": size(read) or "none",
        "read_f1": ", ".join(f1_of_read) or st.ABSENT,
        "model_software": share_of("model_software", elsewhere_runs),
        **{name: scopes[name].sum() for name in SCOPES},
        "rules": sum(scopes[name].sum() for name in SCOPES),
        "with_rules": scopes.height,
        "peers": len(peers),
        "most": highest(groups["rules"], "gain"),
        "rightest": highest(groups["rules"], "accuracy"),
        "best": highest(peers, "gain"),
        "largest": max(gains, key=lambda gain: gain["value"]),
        "ours": documented[answers.PACKAGE],
    }


def tables(
    rates: st.Estimates,
    detail: st.Estimates,
    chosen: pl.DataFrame,
    issues: pl.DataFrame,
    sizes: Mapping[str, Mapping[str, int]],
    groups: Mapping[str, list[str]],
    said: st.Captions,
) -> Iterator[st.Table]:
    """Rates, alarms, best thresholds, categories, and what is said elsewhere."""
    names = {method: label(method) for methods in groups.values() for method in methods}
    for peer in groups["rules"]:
        rules = [rule for rule in peer_rules() if rule.peer == peer]
        names[peer] += f" ({len(rules_of(peer))} of {len(rules)})"
    names |= {method: f"{names[method]} (n = {of['failure']})" for method, of in sizes.items()}
    below = partial(rows_of, said.labels("peers"))
    everyone = [*below(groups, {method: (name,) for method, name in names.items()})]
    yield st.table("peers", rates, None, everyone, said)

    def is_alarming(row: st.Row | st.Divider) -> bool:
        return isinstance(row, st.Divider) or bool(rates.row(metric="gain", **row.keys))

    yield st.table("peers_alarms", rates, None, filter(is_alarming, everyone), said)

    texts = {}
    for peer in groups["rules"] + groups["tools"]:
        of_peer = [chosen.filter(objective=objective, method=peer) for objective in OBJECTIVES]
        often = (f"{c['choice'][0]} ({c['folds'][0]} of {c['folds'].sum()})" for c in of_peer)
        texts[peer] = (names[peer], *often)
    peers = {group: groups[group] for group in ("rules", "tools")}
    yield st.table("peers_best", rates, None, below(peers, texts), said)

    # beside categories: whether anybody needs a tool to see the failure
    headings = {str(name): label for name, label in st.SHORT_LABELS.items()}
    headings |= said.labels("peers_categories")
    columns = [st.Text("Tool or method")]
    for group, heading in headings.items():
        (n,) = detail.where(group=group, metric="accuracy").frame.select(pl.col("n").max()).row(0)
        columns.append(st.Text(f"{heading} (n = {n})", align="right"))
    texts = {
        method: (name, *(both(detail, method, group) for group in headings))
        for method, name in names.items()
    }
    yield st.table("peers_categories", rates, columns, below(groups, texts), said)

    body: list[tuple[str, ...] | st.Divider] = []
    for (peer, setting), of_setting in issues.group_by("peer", "setting", maintain_order=True):
        if (method := f"{peer}:{setting}") in sizes:
            body.append(st.Divider(names[method]))
            counts = of_setting.select("issue", "failure", "twin").iter_rows()
            body += [(st.words(issue), *map(str, numbers)) for issue, *numbers in counts]
    if body:
        yield st.sheet("peers_elsewhere", body, said)


def both(detail: st.Estimates, method: str, group: str) -> str:
    of_group = detail.where(method=method, group=group)
    rows = [of_group.row(metric=metric) for metric in ("detected", "accuracy")]
    return " / ".join(st.ABSENT if row is None else st.percent(row["value"]) for row in rows)


def rows_of(
    called: Mapping[str, str],
    groups: Mapping[str, list[str]],
    texts: Mapping[str, tuple[str, ...]],
) -> Iterator[st.Row | st.Divider]:
    """A row for each method with its texts, below what its group is called."""
    for group, methods in groups.items():
        if methods:
            yield st.Divider(called[group])
            for method in methods:
                yield st.Row(texts[method], {"choice": DOCUMENTED, "method": method})


MARKS = {
    "detected": st.Mark("failing runs alarmed", st.VERMILLION, "o"),
    "alarm_twin": st.Mark("healthy twins alarmed", st.BLACK, "D", "none"),
    "accuracy": st.Mark("category of a failing run right", st.BLUE, "s"),
}


def draw(rates: pl.DataFrame, groups: Mapping[str, list[str]], figure: Figure) -> None:
    """Alarms as documented, alarms with the best thresholds, and categories, side by side."""
    drawn = rates.with_columns(row="method", mark="metric")
    alarms = drawn.filter(pl.col("metric").is_in(["detected", "alarm_twin"]))
    panels = {
        "alarms,\nas documented": alarms.filter(choice=DOCUMENTED),
        "alarms,\nbest thresholds": alarms.filter(choice="best_detection"),
        "category\nright": drawn.filter(choice=DOCUMENTED, metric="accuracy"),
    }
    points = pl.concat(part.with_columns(panel=pl.lit(name)) for name, part in panels.items())
    # as in tables, without what stands in brackets; of ours what is not told of a failure either
    shown = {**groups, "ours": [answers.PACKAGE]}
    names = [method for methods in shown.values() for method in methods]
    rows = {method: label(method).partition(" (")[0] for method in names}
    heavy = {methods[0] for methods in groups.values() if methods}
    titles = {name: name for name in panels}
    grid = st.dot_panels(
        figure, points, rows, MARKS, titles, spread=0.45, heavy_above=heavy, guide=False
    )
    for axes in grid:
        axes.set(xlim=(-4, 104), xlabel="percent of runs")
    st.legend_outside(figure, MARKS.values(), columns=3)


def main() -> None:
    said = st.Captions.read("peers")
    settings = st.read_section("peers", PeersStudy)
    reference = st.read_section("nested_cv", st.ReferenceStudy)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    splits = st.first_repeats(st.read_splits(), settings.repeats, "peers.repeats")
    recorded, scenarios = read_table(RUNS, RUN_SCHEMA), st.read_scenarios(SCENARIOS)
    runs = answers.runs_of(recorded, scenarios, reference)
    alarms = st.read_output(ALARMS, ALARM_SCHEMA)
    parts = [st.read_output(SKILL, VERDICT_SCHEMA)]
    for name in settings.verdicts:
        place = VERDICTS / f"{name}.parquet"
        parts.append(st.read_output(place, VERDICT_SCHEMA))
        refuse_unmapped(parts[-1], place)
    verdicts = pl.concat(parts)
    given_logs = answers.best_formats(verdicts, runs)
    predictions = st.read_outputs(PREDICTIONS, settings.methods, st.PREDICTION_SCHEMA)
    breaks = st.read_output(BREAKS_OF_MONITOR, BREAKS).filter(
        pl.col("steps_ahead").is_null(), version=settings.monitor_version, bounds="own"
    )
    logs = st.read_output(LOGS, LOG_ANSWERS).filter(
        setting=reference.name, repeat=0, model="log", format=COMPLETE
    )

    peers = pl.concat(
        [answers.of_rules(alarms, runs, settings.factors), answers.of_recorded(given_logs)]
    )
    elsewhere, elsewhere_runs, issues = answers.asked_elsewhere(verdicts, runs, recorded, scenarios)
    methods = answers.of_methods(predictions.filter(feature_set=st.PRIMARY_SET), breaks, runs)
    ours = pl.concat([answers.of_package(logs), methods])
    documented = pl.concat([peers.filter(choice=DOCUMENTED), elsewhere, ours])
    best = pl.concat(
        with_best_thresholds(peers, runs, splits, each).with_columns(objective=pl.lit(each))
        for each in OBJECTIVES
    )
    judged = pl.concat([documented, best.with_columns(choice="objective").select(*SAID_SCHEMA)])
    all_runs = pl.concat([runs, elsewhere_runs])
    rates = st.Estimates.of(rate_table(judged, all_runs, intervals))
    detail = st.Estimates.of(detail_table(documented, all_runs, intervals.confidence))
    # how often each choice of thresholds was made, most often first
    folds = best.select("objective", "method", "repeat", "fold", "choice").unique()
    counts = folds.group_by("objective", "method", "choice").agg(folds=pl.len().cast(pl.Int64))
    order = {"objective": False, "method": False, "folds": True, "choice": False}
    chosen = counts.sort([*order], descending=[*order.values()])
    fired, scopes = rule_counts(alarms, runs), scope_counts()

    sizes = {}
    for (method,), asked in elsewhere.group_by("method", maintain_order=True):
        of_method = all_runs.join(asked, on="run_id", how="semi")
        sizes[str(method)] = dict(of_method.group_by("kind").len().iter_rows())
    known = [peer for peer in standards() if peer in set(peers["method"])]
    groups = {
        "rules": [peer for peer in known if rules_of(peer)],
        "tools": [peer for peer in known if not rules_of(peer)],
        "elsewhere": [*sizes],
        "ours": [answers.PACKAGE, *settings.methods],
    }
    nested = rates.nested("choice", "method", "metric")
    reads = given_logs.select("peer", "format").unique(maintain_order=True).iter_rows()
    said = said.with_numbers(
        intervals,
        numbers(nested, runs, elsewhere_runs, sizes, groups, scopes),
        {
            "reads": ", ".join(f"{label(peer)} as {st.words(form)}" for peer, form in reads),
            "development": " ".join(st.development_note(settings.methods)),
            "repeats": splits["repeat"].n_unique(),
            "folds": splits["fold"].n_unique(),
            "repeats_of_methods": ours["repeat"].n_unique(),
        },
    )
    drawn = partial(draw, rates.frame, groups)
    st.publish(
        "peers",
        metrics={"rates": nested, "rules": st.nest(scopes, "peer", leaves=SCOPES)},
        points={
            "peers": rates.frame,
            "peers_detail": detail.frame,
            "peers_rules": fired,
            "peers_chosen": chosen,
            "peers_elsewhere": issues,
        },
        tables=[
            *tables(rates, detail, chosen, issues, sizes, groups, said),
            *rule_tables(fired, scopes, runs, groups["rules"], said),
        ],
        figures={"peers": said.picture("figure", 3.6, drawn)},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=rates.where(choice=DOCUMENTED)
        .frame.filter(pl.col("metric").is_in([*MARKS]))
        .select("method", "metric", "value", "ci_low", "ci_high", "n"),
    )


if __name__ == "__main__":
    st.run(main)
