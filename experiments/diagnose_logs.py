"""Stage diagnose_logs: how often causes are told from logs, and what other tools make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from rich.console import Console

from failbench.base.slices import ReferenceStudy
from failbench.base.stage import read_output, read_section
from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.diagnose.answer import NAMED, Level, level_of
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.model import Model, read_model
from failbench.diagnose.outputs.page import print_page
from failbench.diagnose.readers.names import SIGNALS
from failbench.diagnose.readers.text import read_text
from failbench.monitor.records.fitting import setting_of
from failbench.neighbours.peers.skill import skill_verdicts
from failbench.neighbours.peers.verdicts import VERDICT_SCHEMA, recorded_answers
from failbench.neighbours.rendering.formats import rendered
from failbench.neighbours.rendering.run import logged_run
from failbench.neighbours.rendering.shape import COMPLETE, complete_shape
from failbench.statistics.bootstrap import Interval
from failbench.statistics.confidence import calibration_error, calibration_floor, calibration_gaps
from failbench.statistics.intervals import (
    ScenarioIntervalSettings,
    estimate_rows,
    nest,
    scenario_intervals,
    wilson,
    wilson_interval,
)
from failbench.statistics.metrics import ValueMetric, proportion
from failbench.statistics.scenario_values import (
    over_committed,
    over_scenarios,
    right,
    scenario_answers,
)
from failbench.statistics.settings import read_statistics
from failbench.study import (
    Captions,
    Estimates,
    Of,
    Row,
    Text,
    of_scenarios,
    publish,
    rows,
    run,
    table,
)
from failbench.study.cells import ABSENT, percent, three_decimals, words
from failbench.study.dot_plot import dot_plot
from failbench.study.labels import CATEGORY_LABELS
from failbench.study.picture import legend_outside
from failbench.study.plain_table import Divider, Table
from failbench.study.style import BLACK, BLUE, GREY, VERMILLION, Mark
from shared.diagnose_logs import ANSWER_SCHEMA, EVIDENCE_SCHEMA, DiagnosedLogs

TELEMETRY = Path("data/telemetry")
ANSWERS = Path("data/measurements/diagnose_logs/answers.parquet")
EVIDENCE = Path("data/measurements/diagnose_logs/evidence.parquet")
MODEL = Path("src/failbench/fitted/log.json")
VERDICTS = Path("data/peers/verdicts.parquet")

OF_COMPLETE = "log_complete"
"""Answers to complete logs, as if their model were one of its own."""

MODELS = {
    "log": Mark("any log", GREY, "v"),
    OF_COMPLETE: Mark("complete log", VERMILLION, "s"),
    "monitor": Mark("monitor, logic alone", BLACK, "D"),
    "monitor_bounds": Mark("monitor, own bounds", BLUE, "o"),
}
OURS = "failbench_diagnose"
TOOLS = {
    OURS: "failbench, complete log, not told",
    "ml_training_debugger": "thresholds of ml-training-debugger",
    "runmedic": "runmedic 0.1.1",
    "training_doctor": "training-doctor 0.1.0",
}
ACCURACY = [Of("accuracy", "category", "Accuracy"), Of("cause_accuracy", "root cause", "Accuracy")]
IF_NAMED = [Of("named_accuracy", "When named"), Of("named", "Named")]
FALSE_ALARMS = [
    Of(f"alarm_{kind}", heading, "False alarms")
    for kind, heading in {"success": "successes", "twin": "twins"}.items()
]
STATES = ("logged", "not logged")
SAYS_END = "the error or the death"
"""Beside signals: whether a log says how the run ended."""

POINTS = 20
"""Shares at which the risk is drawn."""

RIGHT = "probability that the category of a log of a new scenario is right"
RIGHT_CAUSE = "probability that the root cause that is named, of the category named, is right"
NAMES_IT = "probability that a category is named of it"
FOUND = "probability that something is found in it"
CAUSE_RIGHT = pl.col("predicted_cause") == pl.col("cause")
COMMITTED = pl.col("prediction") != ABSTAIN
IS_NAMED = pl.col("alarm") & (pl.col("confidence") >= NAMED)


def rate_table(
    answers: pl.DataFrame, settings: DiagnosedLogs, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of every model, by format, by what is logged, by category, and by confidence."""
    parts = []
    for (model,), of_model in answers.group_by("model", maintain_order=True):
        for part, name, group in groups(of_model):
            if group.is_empty():
                continue
            rates = rates_of(group, settings, intervals, part)
            logs = pl.lit(group.select("run_id", "format").n_unique(), pl.Int32)
            rows = estimate_rows(rates, model=model, part=part, name=name)
            parts.append(rows.with_columns(logs=logs))
    return pl.concat(parts)


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
    for category in CATEGORIES:
        yield "category", category, answers.filter(category=category)
    stated = answers["confidence"].map_elements(level_of, pl.String)
    for level in get_args(Level):
        yield "confidence", level, answers.filter(stated == level)


def rates_of(
    answers: pl.DataFrame,
    settings: DiagnosedLogs,
    intervals: ScenarioIntervalSettings,
    part: str,
) -> dict[str, Interval]:
    """Accuracy of category and cause; of whole models what the confidence is worth too."""
    figures = [
        proportion(
            "accuracy", over_scenarios(answers, right()), f"{RIGHT}, told that the run failed"
        ),
        proportion("cause_accuracy", over_scenarios(answers, CAUSE_RIGHT), RIGHT_CAUSE),
        proportion("alarmed", over_scenarios(answers, pl.col("alarm")), FOUND),
    ]
    if part == "whole":
        sure = over_committed(surest(answers, settings.coverage), right())
        named = with_abstentions(answers, IS_NAMED)
        right_if_named = over_committed(named, right())
        gaps = calibration_gaps(by_log(answers), settings.bins)
        error = "expected calibration error of the category's confidence"
        figures += [
            proportion("selective_accuracy", sure, f"{RIGHT}, among the surest logs"),
            proportion(
                "named_accuracy", right_if_named, f"{RIGHT}, given that a category is named"
            ),
            proportion("named", over_scenarios(named, COMMITTED), NAMES_IT),
            ValueMetric("calibration_error", gaps, error, calibration_error, "distance"),
        ]
    sizes = answers.group_by("category").agg(pl.col("scenario").n_unique())["scenario"]
    # where a category has a single scenario nothing can be resampled; and what was answered with
    # one confidence in one repeat may have another in the next
    if part != "confidence" and min(sizes) > 1:
        return scenario_intervals(scenario_answers(answers), (), intervals, tuple(figures))
    size = (answers["scenario"].n_unique(), intervals.confidence, "scenario")
    return {
        each.name: wilson_interval(float(each.score(each.values.sums())), *size, each.estimand)
        for each in figures
    }


def surest(answers: pl.DataFrame, coverage: float) -> pl.DataFrame:
    """Answers of which the least sure are withheld, in each repeat by itself."""
    threshold = pl.col("confidence").quantile(1 - coverage, "lower").over("repeat")
    return with_abstentions(answers, pl.col("confidence") >= threshold)


def with_abstentions(answers: pl.DataFrame, kept: pl.Expr) -> pl.DataFrame:
    said = pl.when(kept).then("prediction").otherwise(pl.lit(ABSTAIN))
    return answers.with_columns(prediction=said)


def by_log(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers whose ``run_id`` names the log: a run has several, and each has a confidence."""
    return answers.with_columns(run_id=pl.format("{} {}", "run_id", "format"))


def floors(answers: pl.DataFrame, settings: DiagnosedLogs) -> dict[str, float]:
    """Mean calibration error of perfectly calibrated answers of the same confidences, by model."""
    found = {}
    for (model,), part in answers.group_by("model", maintain_order=True):
        rng = np.random.default_rng(settings.seed)
        draws = calibration_floor(by_log(part), settings.bins, settings.floor_draws, rng)
        found[str(model)] = float(draws.mean())
    return found


def alarm_table(answers: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """False alarms: the share of logs of healthy runs in which something is found."""
    rows = []
    for (model, kind), group in answers.group_by("model", "kind", maintain_order=True):
        of_runs = group.group_by("run_id").agg(pl.col("alarm").mean())
        value, n = float(of_runs["alarm"].to_numpy().mean()), of_runs.height
        logs = group.select("run_id", "format").n_unique()
        rows.append((model, kind, value, *wilson(value, n, confidence), n, logs))
    columns = ["model", "kind", "value", "ci_low", "ci_high", "n", "logs"]
    return pl.DataFrame(rows, columns, orient="row").sort("model", "kind")


def risk_coverage(answers: pl.DataFrame, points: int) -> pl.DataFrame:
    """Share of wrong answers among the surest, by the share that is answered.

    Answers of one confidence are given together, so that more may be ``answered`` than is asked.
    """
    rows = []
    for (model,), of_model in answers.group_by("model", maintain_order=True):
        for coverage in map(float, np.linspace(1 / points, 1.0, points)):
            sure = surest(of_model, coverage)
            sums = over_committed(sure, right()).sums()
            answered = sure.select(COMMITTED.mean()).item()
            rows.append((model, coverage, answered, 1.0 - float(sums[0] / sums[1])))
    return pl.DataFrame(rows, ["model", "coverage", "answered", "risk"], orient="row")


def scenario_table(answers: pl.DataFrame) -> pl.DataFrame:
    """Of each scenario and model: how often category and cause are right, and what is said."""
    return (
        answers.group_by("model", "category", "scenario")
        .agg(
            right=right().mean(),
            cause_right=CAUSE_RIGHT.mean(),
            said=pl.col("prediction").mode().sort().first(),
            confidence=pl.col("confidence").mean(),
            logs=pl.struct("run_id", "format").n_unique(),
        )
        .sort("model", "category", "scenario")
    )


def peer_table(
    answers: pl.DataFrame, runs: pl.DataFrame, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of each tool on complete logs, in the format that it answers best in."""
    labelled = answers.join(runs, on="run_id").with_columns(repeat=pl.lit(0, pl.Int32))
    parts = []
    for (method,), of_method in labelled.group_by("method", maintain_order=True):
        rights = of_method.filter(kind="failure").group_by("format").agg(right().mean())
        best = str(rights.sort("prediction", "format")["format"][-1])
        taken = of_method.filter(format=best)
        failing = taken.filter(kind="failure")
        rightly = "probability that a run of a new scenario is diagnosed right, an abstention wrong"
        if_named = "probability that it is diagnosed right, given that a category is named"
        healthy = "probability that something is found in a healthy run"
        figures = (
            proportion("accuracy", over_scenarios(failing, right()), rightly),
            proportion("named", over_scenarios(failing, COMMITTED), NAMES_IT),
            proportion("detected", over_scenarios(failing, pl.col("detected")), FOUND),
            proportion("named_accuracy", over_committed(failing, right()), if_named),
        )
        alarms = {}
        for kind in ("success", "twin"):
            found = taken.filter(kind=kind)["detected"].to_numpy()
            alarms[f"alarm_{kind}"] = wilson_interval(
                float(found.mean()), len(found), intervals.confidence, "run", healthy
            )
        keys = {"method": method, "format": best}
        rates = [
            of_scenarios(failing, (), intervals, figures, **keys),
            estimate_rows(alarms, **keys),
        ]
        parts.append(pl.concat(rates).with_columns(logs=pl.lit(failing.height, pl.Int32)))
    return pl.concat(parts)


def ours(answers: pl.DataFrame) -> pl.DataFrame:
    """Our answers as a user gets them: no category where nothing is found or none stands out."""
    named = with_abstentions(answers, IS_NAMED)
    return named.select(
        "run_id", "prediction", method=pl.lit(OURS), format=pl.lit("complete log"), detected="alarm"
    )


def example(run: Mapping[str, Any], steps: pl.DataFrame, model: Model) -> str:
    """The last line of a run's log and what the command answers, up to what it also found."""
    name, shape, rng = "key_equals", complete_shape("key_equals"), np.random.default_rng(0)
    logged = logged_run(run, steps, run["failure_step"])
    (log,) = rendered(logged, name, shape, rng).values()
    page = StringIO()
    answer = diagnosis_of(read_text("train.log", [log]), model=model)
    print_page(answer, Console(file=page, width=80, color_system=None))
    last = f"$ tail -n 1 train.log\n{log.decode().splitlines()[-1]}"
    answered = page.getvalue().partition("\nAlso found\n")[0]
    return f"```console\n{last}\n$ failbench diagnose train.log\n{answered}\n...\n```\n"


def run_out_of_memory(telemetry: Telemetry, setting: str) -> dict[str, Any]:
    """Of a setting's runs that ended because memory could not be had, the first by scenario.

    Neither the answer nor anything else of the log decides which run is shown.
    """
    of_memory = pl.col("error_message").str.contains("allocate memory")
    failed = telemetry.runs.filter(of_memory, kind="failure").sort("scenario", "run_id")
    return next(run for run in failed.iter_rows(named=True) if setting_of(run) == setting)


def numbers(
    failing: pl.DataFrame, rates: pl.DataFrame, risks: pl.DataFrame, settings: DiagnosedLogs
) -> dict[str, object]:
    """What captions name beside settings and metrics."""
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
    whole: Estimates, rates: Estimates, evidence: pl.DataFrame, coverage: float, said: Captions
) -> Iterator[Table]:
    """Ours beside other tools, parts of our answers, other tools, and evidence."""
    columns: list[Text | Of] = [
        Text("From a log"),
        Of("accuracy", "Category of five right"),
        Of("cause_accuracy", "Root cause right"),
        Of("alarm_success", "False alarms", show="value"),
    ]
    kinds = {model: f"failbench, {mark.label}" for model, mark in MODELS.items()}
    body: list[Row | Divider] = [*rows("model", kinds), *rows("method", TOOLS)]
    yield table("headline", whole, columns, body, said)

    size, found = Text("Scenarios / logs", align="right"), Of("alarmed", "Something found")
    by_part: list[Text | Of] = [size, *ACCURACY, found]
    sure = Of("selective_accuracy", f"Surest {100 * coverage:.0f} %")
    calibration = Text("Calibration, floor", align="right")
    columns = [Text("Log"), size, *ACCURACY, sure, *IF_NAMED, calibration, *FALSE_ALARMS]
    body = []
    for model, mark in MODELS.items():
        row, of_model = sized(whole, mark.label, model=model), whole.where(model=model)
        error, floor = (of_model.value(metric=f"calibration_{name}") for name in ("error", "floor"))
        both = f"{three_decimals(error)} / {three_decimals(floor)}"
        body.append(Row((*row.texts, both), row.keys))
    yield table("diagnose_logs", whole, columns, body, said)

    formats = rates.where(part="format", metric="accuracy").frame.sort("value", descending=True)
    body = [sized(rates, words(name), part="format", name=name) for name in formats["name"]]
    yield table("diagnose_logs_formats", rates, [Text("Format"), *by_part], body, said)

    of_signal = rates.where(part="signal").frame
    split = of_signal["name"].str.split_exact(": ", 1).struct.rename_fields(["signal", "state"])
    signals = Estimates(of_signal.with_columns(split.struct.unnest()))
    by_state = [
        Of(each.metric, f"{each.heading}, {state}", each.group, keys={"state": state})
        for each in ACCURACY
        for state in STATES
    ]
    names = (*SIGNALS, SAYS_END)
    body = [sized(signals, words(name), signal=name, state=STATES[0]) for name in names]
    columns = [Text("Signal"), Text("logs with it", align="right"), *by_state]
    yield table("diagnose_logs_signals", signals, columns, body, said)

    levels = {level: level for level in get_args(Level)}
    parts = {"categories": ("category", CATEGORY_LABELS), "confidence": ("confidence", levels)}
    for name, (part, labels) in parts.items():
        body = []
        for model, mark in MODELS.items():
            keys = {"model": model, "part": part}
            body.append(Divider(mark.label))
            body += [sized(rates, text, **keys, name=key) for key, text in labels.items()]
        columns = [Text(part.capitalize()), *by_part]
        yield table(f"diagnose_logs_{name}", rates, columns, body, said)

    columns = [
        *(Text("Tool"), Text("Reads"), Text("Scenarios / runs", align="right")),
        *(Of("accuracy", "Category right"), *IF_NAMED, Of("detected", "Something found")),
        *FALSE_ALARMS,
    ]
    read = whole.where(metric="named").frame.drop_nulls("method").select("method", "format")
    body = [sized(whole, TOOLS[tool], words(name), method=tool) for tool, name in read.iter_rows()]
    yield table("diagnose_logs_peers", whole, columns, body, said)

    by_kind = evidence.group_by("kind", "checked_by").agg(pl.len(), pl.col("found").sum())
    body = [
        Row((kind, by, f"{items:,}", percent(there / items)))
        for kind, by, items, there in by_kind.sort("kind", "checked_by").iter_rows()
    ]
    columns = [Text("Evidence"), Text("Looked up by")]
    columns += [Text("Items", align="right"), Text("Found", align="right")]
    yield table("diagnose_logs_evidence", whole, columns, body, said)


def sized(found: Estimates, *texts: str, **keys: str) -> Row:
    """A row with the sizes of what its keys name."""
    row = found.row(metric="accuracy", **keys)
    return Row((*texts, ABSENT if row is None else f"{row['n']} / {row['logs']:,}"), keys)


def draw(rates: pl.DataFrame, risks: pl.DataFrame, coverage: float, figure: Figure) -> None:
    """Left the share of wrong answers by the share that is given, right accuracy by category."""
    left, right = figure.subplots(1, 2)
    for name, look in MODELS.items():
        of_model = risks.filter(model=name)
        left.plot(of_model["answered"], of_model["risk"], color=look.colour, linewidth=1.2)
        at = of_model.filter((pl.col("coverage") - coverage).abs() < 1e-9)
        left.plot(
            at["answered"], at["risk"], color=look.colour, marker=look.marker, linestyle="none"
        )
    left.set_xlim(0, 1.02)
    left.set_ylim(0, None)
    left.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
    left.set_xlabel("percent of logs answered, the surest first")
    left.set_ylabel("percent of these wrong")
    by_category = rates.filter(part="category", metric="accuracy")
    drawn = by_category.with_columns(row=pl.col("name"), mark=pl.col("model"))
    dot_plot(right, drawn, {name: CATEGORY_LABELS[name] for name in CATEGORIES}, MODELS)
    right.set_xlim(0, 102)
    right.set_xlabel("accuracy of the category in percent")
    legend_outside(figure, [look.handle for look in MODELS.values()], columns=4)


def main() -> None:
    settings = read_section("diagnose_logs", DiagnosedLogs)
    intervals = read_statistics(ScenarioIntervalSettings)
    reference = setting_of(read_section("nested_cv", ReferenceStudy).model_dump())
    telemetry, evidence = read_telemetry(TELEMETRY), read_output(EVIDENCE, EVIDENCE_SCHEMA)
    model = pl.when(format=COMPLETE).then(pl.lit(OF_COMPLETE)).otherwise("model")
    answers = read_output(ANSWERS, ANSWER_SCHEMA).with_columns(model=model)
    failing, healthy = answers.filter(kind="failure"), answers.filter(pl.col("kind") != "failure")
    at_reference = answers.filter(setting=reference)
    run_ids = at_reference["run_id"].unique(maintain_order=True)
    verdicts = recorded_answers(read_output(VERDICTS, VERDICT_SCHEMA))
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
        "rates": nest(rates, "model", "part", "name", "metric"),
        "false_alarms": nest(alarms, "model", "kind"),
        "calibration_floor": calibrated,
        "peers": nest(peers, "method", "metric"),
        "evidence_found": {"value": float(at_place.mean()), "n": len(at_place)},
    }
    frames = [
        rates.filter(part="whole").drop("part", "name"),
        alarms.with_columns(metric="alarm_" + pl.col("kind")),
        pl.DataFrame([*calibrated.items()], ["model", "value"], orient="row").with_columns(
            metric=pl.lit("calibration_floor")
        ),
        peers,
    ]
    whole = pl.concat(frames, how="diagonal_relaxed")

    ended = run_out_of_memory(telemetry, reference)
    planted = causes()[cause_of_scenario()[ended["scenario"]]].title
    of_example = {"planted": planted[0].lower() + planted[1:], "planted_in": ended["scenario"]}
    counts = numbers(failing, rates, risks, settings) | of_example
    said = Captions.read("diagnose_logs", intervals, settings, metrics, counts)
    shown_log = example(ended, telemetry.steps.filter(run_id=ended["run_id"]), read_model(MODEL))
    drawn = partial(draw, rates, risks, settings.coverage)
    publish(
        "diagnose_logs",
        metrics=metrics,
        points={
            "diagnose_logs": rates,
            "diagnose_logs_risk": risks,
            "diagnose_logs_false_alarms": alarms,
            "diagnose_logs_scenarios": scenario_table(failing),
            "diagnose_logs_peers": peers,
        },
        tables=tables(Estimates(whole), Estimates(rates), evidence, settings.coverage, said),
        figures={"diagnose_logs": said.picture("figure", 2.9, drawn)},
        sentences={
            "finding": said.text("finding", "text") + "\n",
            "example": f"{shown_log}\n{said.text('example', 'text')}\n",
        },
        summary=whole.select("model", "method", "metric", "value", "ci_low", "ci_high", "n"),
    )


if __name__ == "__main__":
    run(main)
