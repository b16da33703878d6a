"""Stage diagnose_logs: how often causes are told from logs, and what other tools make of them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from failbench import study as st
from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.diagnose.answer import NAMED, Level, LogDiagnosis, level_of
from failbench.diagnose.model import read_model
from failbench.diagnose.readers.names import SIGNALS
from failbench.diagnose.words import read_words
from failbench.messages.catalogue import messages
from failbench.monitor.records.tables import setting_of
from failbench.neighbours.peers.skill import skill_verdicts
from failbench.neighbours.peers.verdicts import OUTSIDE_TABLE, VERDICT_SCHEMA, recorded_answers
from failbench.neighbours.rendering.run import COMPLETE
from shared import outside as others
from shared.answered import answered as answered_run
from shared.authors import A
from shared.diagnose_logs import (
    AGAINST_SCHEMA,
    ANSWER_SCHEMA,
    EVIDENCE_SCHEMA,
    LEARNER_SCHEMA,
    OUTSIDE_SCHEMA,
    READING_SCHEMA,
    DiagnosedLogs,
)
from shared.message_placing import placing_agreement
from shared.monitored_logs import early_rows, learner_table, monitored_rows, monitored_table
from shared.outside import CAUSE_RIGHT, COMMITTED, FOUND, NAMES_IT, RIGHT, RIGHT_CAUSE

TELEMETRY = Path("data/telemetry")
ANSWERS = Path("data/measurements/diagnose_logs/answers.parquet")
EVIDENCE = Path("data/measurements/diagnose_logs/evidence.parquet")
AGAINST = Path("data/measurements/diagnose_logs/against.parquet")
OUTSIDE = Path("data/measurements/diagnose_logs/outside.parquet")
LEARNERS = Path("data/measurements/learners.parquet")
READING = Path("data/measurements/diagnose_logs/reading.parquet")
MODEL = Path("src/failbench/fitted/log.json")
WORDS_TABLE = Path("src/failbench/fitted/words.npy")
VERDICTS = Path("data/peers/verdicts.parquet")
PEERS_OUTSIDE = Path("data/peers/outside.parquet")
FIELD, REPORTS = Path("data/field"), Path("data/reports")
READERS = Path("data/messages/readers.csv")
PLACED = pl.Schema(
    dict.fromkeys(("id", "category_1", "cause_1", "category_2", "cause_2"), pl.String)
)
"""What two readers make of each message of the catalogue, by its text and its library."""

OF_COMPLETE = "log_complete"
"""Answers to complete logs, as if their model were one of its own."""

MODELS = {
    "log": st.Mark("any log", st.GREY, "v"),
    OF_COMPLETE: st.Mark("complete log", st.VERMILLION, "s"),
    "monitor": st.Mark("monitor, bounds of others", st.BLACK, "D"),
    "monitor_bounds": st.Mark("monitor, own bounds", st.BLUE, "o"),
}
OURS = "failbench_diagnose"
STATES = ("logged", "not logged")
SAYS_END = "the error or the death"
"""Beside signals: whether a log says how the run ended."""

POINTS = 20
"""Shares at which the risk is drawn."""

IS_NAMED = pl.col("alarm") & (pl.col("confidence") >= NAMED)


def rate_table(
    answers: pl.DataFrame, settings: DiagnosedLogs, intervals: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of every model, by format, by what is logged, by category, and by confidence."""
    parts = []
    for (model,), of_model in answers.group_by("model", maintain_order=True):
        for part, name, group in groups(of_model):
            if group.height:
                rates = rates_of(group, settings, intervals, part)
                rows = st.estimate_rows(rates, model=model, part=part, name=name)
                parts.append(rows.with_columns(logs=pl.lit(size(group), pl.Int32)))
    return pl.concat(parts)


def size(answers: pl.DataFrame) -> int:
    """How many logs: a run has one a format, and an answer to each in every repeat."""
    return answers.select("run_id", "format").n_unique()


def groups(answers: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    yield "whole", "whole", answers
    formats = sorted(answers["format"].unique())
    if len(formats) > 1:
        for name in formats:
            yield "format", name, answers.filter(format=name)
        logged = pl.col("present").str.split(",").list
        conditions: dict[str, pl.Expr] = {name: logged.contains(name) for name in SIGNALS}
        for name, condition in (conditions | {SAYS_END: pl.col("says_end")}).items():
            yield "signal", f"{name}: {STATES[0]}", answers.filter(condition)
            yield "signal", f"{name}: {STATES[1]}", answers.filter(~condition)
    for category in st.CATEGORIES:
        yield "category", category, answers.filter(category=category)
    stated = answers["confidence"].map_elements(level_of, pl.String)
    for level in get_args(Level):
        yield "confidence", level, answers.filter(stated == level)


def rates_of(
    answers: pl.DataFrame,
    settings: DiagnosedLogs,
    intervals: st.ScenarioIntervalSettings,
    part: str,
) -> dict[str, st.Interval]:
    """Accuracy of category and cause; of whole models what the confidence is worth too."""
    holds = {
        "accuracy": (st.right(), f"{RIGHT}, given that the run failed"),
        "cause_accuracy": (CAUSE_RIGHT, RIGHT_CAUSE),
        "alarmed": (pl.col("alarm"), FOUND),
    }
    figures = [
        st.proportion(name, st.over_scenarios(answers, each), what)
        for name, (each, what) in holds.items()
    ]
    if part == "whole":
        sure = st.over_committed(surest(answers, settings.coverage), st.right())
        named = with_abstentions(answers, IS_NAMED)
        given = f"{RIGHT}, given that a category is named"
        gaps = st.calibration_gaps(by_log(answers), settings.bins)
        error = "expected calibration error of the category's confidence"
        figures += [
            st.proportion("selective_accuracy", sure, f"{RIGHT}, among the surest logs"),
            st.proportion("named_accuracy", st.over_committed(named, st.right()), given),
            st.proportion("named", st.over_scenarios(named, COMMITTED), NAMES_IT),
            st.ValueMetric("calibration_error", gaps, error, st.calibration_error, "distance"),
        ]
    # what was answered with one confidence in one repeat may have another in the next
    if part == "confidence":
        return st.wilson_intervals(figures, intervals.confidence)
    return st.few_or_many(answers, (), intervals, tuple(figures))


def surest(answers: pl.DataFrame, coverage: float) -> pl.DataFrame:
    """Answers of which the least sure are withheld, in each repeat by itself."""
    threshold = pl.col("confidence").quantile(1 - coverage, "lower").over("repeat")
    return with_abstentions(answers, pl.col("confidence") >= threshold)


def with_abstentions(answers: pl.DataFrame, kept: pl.Expr) -> pl.DataFrame:
    said = pl.when(kept).then("prediction").otherwise(pl.lit(st.ABSTAIN))
    return answers.with_columns(prediction=said)


def by_log(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers whose ``run_id`` names the log: a run has several, and each has a confidence."""
    return answers.with_columns(run_id=pl.format("{} {}", "run_id", "format"))


def floors(answers: pl.DataFrame, settings: DiagnosedLogs) -> dict[str, float]:
    """Mean calibration error of perfectly calibrated answers of the same confidences, by model."""
    found = {}
    for (model,), part in answers.group_by("model", maintain_order=True):
        rng = np.random.default_rng(settings.seed)
        draws = st.calibration_floor(by_log(part), settings.bins, settings.floor_draws, rng)
        found[str(model)] = float(draws.mean())
    return found


def alarm_table(answers: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """False alarms: the share of logs of healthy runs in which something is found."""
    rows = []
    for (model, kind), group in answers.group_by("model", "kind", maintain_order=True):
        share = st.wilson_share(group, pl.col("alarm"), "run_id", confidence)
        rows.append({"model": model, "kind": kind, **share, "logs": size(group)})
    return pl.DataFrame(rows).sort("model", "kind")


def risk_coverage(answers: pl.DataFrame, points: int) -> pl.DataFrame:
    """Share of wrong answers among the surest; those of one confidence are given together."""
    rows = []
    for (model,), of_model in answers.group_by("model", maintain_order=True):
        for coverage in map(float, np.linspace(1 / points, 1.0, points)):
            sure = surest(of_model, coverage)
            sums = st.over_committed(sure, st.right()).sums()
            answered = sure.select(COMMITTED.mean()).item()
            rows.append((model, coverage, answered, 1.0 - float(sums[0] / sums[1])))
    return pl.DataFrame(rows, ["model", "coverage", "answered", "risk"], orient="row")


def scenario_table(answers: pl.DataFrame) -> pl.DataFrame:
    """Of each scenario and model: how often category and cause are right, and what is said."""
    keys = ("model", "category", "scenario")
    found = answers.group_by(keys).agg(
        right=st.right().mean(),
        cause_right=CAUSE_RIGHT.mean(),
        said=pl.col("prediction").mode().sort().first(),
        confidence=pl.col("confidence").mean(),
        logs=pl.struct("run_id", "format").n_unique(),
    )
    return found.sort(keys)


def peer_table(
    answers: pl.DataFrame, runs: pl.DataFrame, intervals: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of each tool on complete logs, in the format that it answers best in."""
    labelled = answers.join(runs, on="run_id").with_columns(repeat=pl.lit(0, pl.Int32))
    rightly = "probability that a run of a new scenario is diagnosed right, an abstention wrong"
    if_named = "probability that it is diagnosed right, given that a category is named"
    healthy = "probability that something is found in a healthy run"
    detected, parts = pl.col("detected"), []
    for (method,), of_method in labelled.group_by("method", maintain_order=True):
        rights = of_method.filter(kind="failure").group_by("format").agg(st.right().mean())
        best = str(rights.sort("prediction", "format")["format"][-1])
        taken = of_method.filter(format=best)
        failing = taken.filter(kind="failure")
        figures = (
            st.proportion("accuracy", st.over_scenarios(failing, st.right()), rightly),
            st.proportion("named", st.over_scenarios(failing, COMMITTED), NAMES_IT),
            st.proportion("detected", st.over_scenarios(failing, detected), FOUND),
            st.proportion("named_accuracy", st.over_committed(failing, st.right()), if_named),
        )
        rates = st.scenario_intervals(st.scenario_answers(failing), (), intervals, figures)
        for kind in ("success", "twin"):
            found = taken.filter(kind=kind)["detected"].to_numpy()
            of_runs = (len(found), intervals.confidence, "run", healthy)
            rates[f"alarm_{kind}"] = st.wilson_interval(float(found.mean()), *of_runs)
        rows = st.estimate_rows(rates, method=method, format=best)
        parts.append(rows.with_columns(logs=pl.lit(failing.height, pl.Int32)))
    return pl.concat(parts)


def ours(answers: pl.DataFrame) -> pl.DataFrame:
    """Our answers as a user gets them: no category where nothing is found or none stands out."""
    named = with_abstentions(answers, IS_NAMED)
    keys = {"method": pl.lit(OURS), "format": pl.lit("complete log")}
    return named.select("run_id", "prediction", **keys, detected="alarm")


def numbers(
    failing: pl.DataFrame, rates: pl.DataFrame, risks: pl.DataFrame, settings: DiagnosedLogs
) -> dict[str, object]:
    of_complete = risks.filter(model=OF_COMPLETE)
    first, best = of_complete.row(0, named=True), of_complete.sort("risk").row(0, named=True)
    return {
        "seeds": len(settings.run_seeds),
        "causes": len(causes()),
        "formats": rates.filter(part="format")["name"].n_unique(),
        "runs": f"{failing.filter(model='log')['run_id'].n_unique():,}",
        "monitored": failing.filter(model="monitor")["run_id"].n_unique(),
        "surest": first,
        "best": best,
        "best_is_another": best["risk"] < first["risk"],
    }


def tables(
    whole: st.Estimates,
    rates: st.Estimates,
    evidence: pl.DataFrame,
    said: st.Captions,
) -> Iterator[st.Table]:
    """Ours beside other tools, parts of our answers, other tools, and evidence."""
    kinds = {model: f"failbench, {mark.label}" for model, mark in MODELS.items()}
    tools = said.labels("diagnose_logs_peers")
    body: list[st.Row | st.Divider] = [*st.rows("model", kinds), *st.rows("method", tools)]
    yield st.table("headline", whole, None, body, said)

    body = []
    for model, mark in MODELS.items():
        row, of_model = sized(whole, mark.label, model=model), whole.where(model=model)
        error, floor = (of_model.value(metric=f"calibration_{name}") for name in ("error", "floor"))
        both = f"{st.written(error, 'three')} / {st.written(floor, 'three')}"
        body.append(st.Row((*row.texts, both), row.keys))
    yield st.table("diagnose_logs", whole, None, body, said)

    formats = rates.where(part="format", metric="accuracy").frame.sort("value", descending=True)
    body = [sized(rates, st.words(name), part="format", name=name) for name in formats["name"]]
    yield st.table("diagnose_logs_formats", rates, None, body, said)

    of_signal = rates.where(part="signal").frame
    split = of_signal["name"].str.split_exact(": ", 1).struct.rename_fields(["signal", "state"])
    signals = st.Estimates(of_signal.with_columns(split.struct.unnest()))
    names = (*SIGNALS, SAYS_END)
    body = [sized(signals, st.words(name), signal=name, state=STATES[0]) for name in names]
    yield st.table("diagnose_logs_signals", signals, None, body, said)

    levels = {level: level for level in get_args(Level)}
    parts = {"categories": ("category", st.CATEGORY_LABELS), "confidence": ("confidence", levels)}
    for name, (part, labels) in parts.items():
        body = []
        for model, mark in MODELS.items():
            keys = {"model": model, "part": part}
            body.append(st.Divider(mark.label))
            body += [sized(rates, text, **keys, name=key) for key, text in labels.items()]
        yield st.table(f"diagnose_logs_{name}", rates, None, body, said)

    read = whole.where(metric="named").frame.drop_nulls("method").select("method", "format").rows()
    body = [sized(whole, tools[tool], st.words(name), method=tool) for tool, name in read]
    yield st.table("diagnose_logs_peers", whole, None, body, said)

    by_kind = evidence.group_by("kind", "checked_by").agg(pl.len(), pl.col("found").sum())
    counts = by_kind.sort("kind", "checked_by").iter_rows()
    items = [(kind, by, f"{n:,}", st.percent(there / n)) for kind, by, n, there in counts]
    yield st.sheet("diagnose_logs_evidence", items, said)


def sized(found: st.Estimates, *texts: str, **keys: str) -> st.Row:
    """A row with the sizes of what its keys name."""
    row = found.row(metric="accuracy", **keys)
    return st.Row((*texts, st.ABSENT if row is None else f"{row['n']} / {row['logs']:,}"), keys)


def draw(rates: pl.DataFrame, risks: pl.DataFrame, coverage: float, figure: Figure) -> None:
    """Left the share of wrong answers by the share that is given, right accuracy by category."""
    left, right = figure.subplots(1, 2)
    for name, look in MODELS.items():
        of_model, colour = risks.filter(model=name), look.colour
        left.plot(of_model["answered"], of_model["risk"], color=colour, linewidth=1.2)
        at = of_model.filter((pl.col("coverage") - coverage).abs() < 1e-9)
        left.plot(at["answered"], at["risk"], color=colour, marker=look.marker, linestyle="none")
    left.set(xlim=(0, 1.02), ylim=(0, None))
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    left.set(xlabel="percent of logs answered, the surest first", ylabel="percent of these wrong")
    by_category = rates.filter(part="category", metric="accuracy")
    drawn = by_category.with_columns(row="name", mark="model")
    st.dot_plot(right, drawn, {name: st.CATEGORY_LABELS[name] for name in st.CATEGORIES}, MODELS)
    right.set(xlim=(0, 102), xlabel="accuracy of the category in percent")
    st.legend_outside(figure, MODELS.values(), columns=4)


def of_example(scenario: str, diagnosis: LogDiagnosis) -> dict[str, str]:
    """What was planted in the run whose answer is shown, and where the answer has it."""
    planted = causes()[cause_of_scenario()[scenario]]
    named = [each.cause.id for each in diagnosis.hypotheses]
    place = f"number {named.index(planted.id) + 1}" if planted.id in named else "none"
    return {
        "planted": planted.title[0].lower() + planted.title[1:],
        "planted_in": scenario,
        "category_is": "right" if diagnosis.category == planted.category else "wrong",
        "cause_is": "right" if named[:1] == [planted.id] else "wrong",
        "place": f"{place} of those that it names",
    }


def main() -> None:
    settings = st.read_section("diagnose_logs", DiagnosedLogs)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    reference = setting_of(st.read_section("nested_cv", st.ReferenceStudy).model_dump())
    telemetry, evidence = st.read_telemetry(TELEMETRY), st.read_output(EVIDENCE, EVIDENCE_SCHEMA)
    of_all = st.read_output(OUTSIDE, OUTSIDE_SCHEMA)
    answered = of_all.filter(pl.col("corpus").is_in([*others.CORPORA]))
    of_others = others.with_others(answered, OUTSIDE_TABLE.read(PEERS_OUTSIDE))
    pairs = st.read_output(AGAINST, AGAINST_SCHEMA)
    beside_good = others.against_rates(pairs, answered, intervals.confidence)
    outside = others.outside_table(of_others, intervals)
    placed = st.read_points(READERS, PLACED, remedy="Restore it with `git checkout`.")
    placing = placing_agreement(placed, messages(), intervals.confidence)
    reading = st.read_output(READING, READING_SCHEMA)
    wrong = others.wrong_answers(answered, FIELD, REPORTS)
    seen = others.totals_of_looks(FIELD, intervals)
    model = pl.when(format=COMPLETE).then(pl.lit(OF_COMPLETE)).otherwise("model")
    whole_answers = st.read_output(ANSWERS, ANSWER_SCHEMA)
    learnt = monitored_table(whole_answers, of_all, settings.run_seeds[0], intervals)
    learners = learner_table(st.read_output(LEARNERS, LEARNER_SCHEMA), intervals)
    answers = whole_answers.with_columns(model=model)
    answers = answers.filter(pl.col("model").is_in([*MODELS]), author=A)
    failing, healthy = answers.filter(kind="failure"), answers.filter(pl.col("kind") != "failure")
    at_reference = answers.filter(setting=reference)
    run_ids = at_reference["run_id"].unique(maintain_order=True)
    verdicts = recorded_answers(st.read_output(VERDICTS, VERDICT_SCHEMA))
    theirs = pl.concat([verdicts, recorded_answers(skill_verdicts(telemetry.steps, run_ids))])
    first = at_reference.filter(repeat=0)
    both = [ours(first.filter(model=OF_COMPLETE)), theirs.rename({"peer": "method"})]

    rates = rate_table(failing, settings, intervals)
    alarms = alarm_table(healthy, intervals.confidence)
    risks = risk_coverage(failing, POINTS)
    runs = first.select("run_id", "kind", "scenario", "category", "seed").unique()
    peers = peer_table(pl.concat(both, how="diagonal"), runs, intervals)
    calibrated = floors(failing, settings)
    at_place = evidence.filter(pl.col("checked_by") != "course")["found"].to_numpy()
    metrics = {
        "rates": st.nest(rates, "model", "part", "name", "metric"),
        "false_alarms": st.nest(alarms, "model", "kind"),
        "calibration_floor": calibrated,
        "outside": st.nest(outside, "corpus", "learnt", "metric"),
        "against": st.nest(beside_good, "corpus", "pair", "metric"),
        "learnt": st.nest(learnt, "left_out", "author", "form", "metric"),
        "learners": st.nest(learners, "author", "learner", "metric"),
        "placing": st.nest(placing, "readers", "metric"),
        "looks": st.nest(seen.cast({"look": pl.String}), "look", "metric") if len(seen) else {},
        "peers": st.nest(peers, "method", "metric"),
        "evidence_found": {"value": float(at_place.mean()), "n": len(at_place)},
    }
    least = pl.DataFrame([*calibrated.items()], ["model", "value"], orient="row")
    frames = [
        rates.filter(part="whole").drop("part", "name"),
        alarms.with_columns(metric="alarm_" + pl.col("kind")),
        least.with_columns(metric=pl.lit("calibration_floor")),
        peers,
    ]
    whole = pl.concat(frames, how="diagonal_relaxed")

    # of the setting's runs that ended because memory could not be had, the first by scenario:
    # neither the answer nor anything else of the log decides which run is shown
    of_memory = pl.col("error_message").str.contains("allocate memory")
    out_of_memory = telemetry.runs.filter(of_memory, kind="failure").sort("scenario", "run_id")
    ended = next(run for run in out_of_memory.rows(named=True) if setting_of(run) == reference)
    steps = telemetry.steps.filter(run_id=ended["run_id"])
    answer = answered_run(ended, steps, read_model(MODEL), read_words(WORDS_TABLE))
    counts = numbers(failing, rates, risks, settings) | of_example(
        ended["scenario"], answer.diagnosis
    )
    said = st.Captions.read("diagnose_logs", intervals, settings, metrics, counts)
    shown_log = answer.session(until="\nAlso found\n")
    drawn = partial(draw, rates, risks, settings.coverage)
    of_learners = st.rows("learner", said.labels("diagnose_logs_learners"))
    of_tables = st.Estimates(outside), st.Estimates(beside_good), st.Estimates(placing)
    st.publish(
        "diagnose_logs",
        metrics=metrics,
        points={
            "diagnose_logs": rates,
            "diagnose_logs_risk": risks,
            "diagnose_logs_false_alarms": alarms,
            "diagnose_logs_scenarios": scenario_table(failing),
            "diagnose_logs_peers": peers,
            "diagnose_logs_outside": outside,
            "diagnose_logs_against": beside_good,
            "diagnose_logs_monitor": learnt,
            "diagnose_logs_wrong": wrong,
        },
        tables=[
            *tables(st.Estimates(whole), st.Estimates(rates), evidence, said),
            *others.tables(*of_tables, wrong, seen, said),
            monitored_rows(st.Estimates(learnt), said),
            st.table("diagnose_logs_learners", st.Estimates(learners), None, of_learners, said),
            st.sheet("diagnose_logs_early", early_rows(whole_answers, said), said),
            st.sheet("diagnose_logs_reading", others.reading_rows(reading), said),
        ],
        figures={"diagnose_logs": said.picture("figure", 2.9, drawn)},
        sentences={
            "finding": said.text("finding", "text") + "\n",
            "learnt": said.text("learnt", "text") + "\n",
            "example": f"```console\n{shown_log}\n```\n\n{said.text('example', 'text')}\n",
        },
        summary=whole.select("model", "method", "metric", "value", "ci_low", "ci_high", "n"),
    )


if __name__ == "__main__":
    st.run(main)
