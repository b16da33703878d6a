"""How often the monitor is right, by what, when, and how often it cries wolf."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

import polars as pl

from failbench import study as st
from failbench.monitor.records.scoring import LADDER, Half, ScoringParams, VersionVerdicts, speaking
from failbench.monitor.records.verdicts import OWN

Rates = dict[str, st.Interval]

ALL_SETTINGS, OTHER_ARCHITECTURES = "all", "other_architectures"
FROM_START, WITH_PAST = "from_start", "with_past"
"""Runs whose fault is on from step 0, and the same runs with an onset in mid-run."""

LOGIC: Final = "logic"
"""What logic bounds; the others need healthy runs too."""

LESS: Final = "less"
"""A setting held against the reference."""

UNSEEN: Final[tuple[str, Half]] = ("2", "test")
"""A version and the half that it was not made on: version 1 alarms most healthy twins, and later
ones saw both."""

HEALTHY: Final[Mapping[str, tuple[str, Half | None]]] = {
    "twin": ("twin", None),
    "twin_of_test_half": ("twin", "test"),
    "success": ("success", None),
}
"""Healthy runs of which false alarms are counted: their kind, and the half of their scenarios."""


RIGHT: Final = "probability that a run of a new scenario is diagnosed right"


def rates_of(answers: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> Rates:
    """Accuracy, an abstention being wrong; that of runs with a named cause; their share."""
    named, accuracy = pl.col("prediction") != st.ABSTAIN, st.METRICS["accuracy"]
    coverage = "probability that a cause is named of a run of a new scenario"
    figures = [st.proportion("coverage", st.over_scenarios(answers, named), coverage)]
    if answers.filter(named).height:
        given = f"{RIGHT}, given that a cause is named"
        committed = st.over_committed(answers, st.right())
        figures.append(st.proportion("accuracy_when_committed", committed, given))
    return st.few_or_many(answers, (accuracy,), settings, tuple(figures))


def difference(
    left: pl.DataFrame, other: pl.DataFrame, settings: st.ScenarioIntervalSettings
) -> st.Interval:
    """Accuracy less that of others to the same runs; without interval where a category has one."""
    beside = other.select("run_id", "repeat", other=pl.col("prediction"))
    paired = left.join(beside, on=["run_id", "repeat"])
    value = st.right().cast(pl.Float64) - (pl.col("other") == pl.col("category")).cast(pl.Float64)
    what = "difference of the probabilities that a run of a new scenario is diagnosed right"
    figure = st.ValueMetric("difference", st.over_scenarios(paired, value), what)
    collected = st.scenario_answers(paired)
    if min(collected.sizes) > 1:
        return st.scenario_intervals(collected, (), settings, (figure,))["difference"]
    point = float(figure.score(figure.values.sums()))
    return st.Interval.of(point, (point, point, "point"), collected.n, "scenario", what)


def rates(
    judged: VersionVerdicts,
    runs: ScoringParams,
    reference: str,
    settings: st.ScenarioIntervalSettings,
    workers: int = 1,
) -> list[pl.DataFrame]:
    """How often a version is right, in each setting and over all of them."""
    answers, logs, invariants = judged.at_failure(), judged.of_whole_logs(), judged.rules.invariants
    without = {
        family: judged.without(each for each in invariants if each.family == family)
        for family in sorted({invariant.family for invariant in invariants})
    }
    logic = judged.without(each for each in invariants if each.bound is None)
    spoken = speaking(invariants)
    rungs = {rung.name: judged.without(set(invariants) - set(spoken[rung.name])) for rung in LADDER}

    tasks: list[tuple[Any, ...]] = []

    def ask(metric: str, *answers: pl.DataFrame, **keys: str) -> None:
        tasks.append((metric, answers, settings, {"version": judged.rules.version, **keys}))

    for setting in (ALL_SETTINGS, *sorted(answers["setting"].unique())):
        here = pl.lit(value=True) if setting == ALL_SETTINGS else pl.col("setting") == setting
        of_setting = answers.filter(here)
        groups: list[tuple[str, str, pl.DataFrame]] = [("whole", "whole", of_setting)]
        groups += [("component", c, of_setting.filter(category=c)) for c in st.CATEGORIES]
        groups += [("difficulty", d, of_setting.filter(difficulty=d)) for d in st.DIFFICULTIES]
        groups += [("half", h, of_setting.filter(half=h)) for h in get_args(Half)]
        groups.append(("log", "whole", logs.filter(here)))
        for ahead in runs.steps_ahead:
            cut = judged.verdicts.filter(bounds=OWN, steps_ahead=ahead)
            had_time = pl.col("failure_step") - pl.col("onset_step") >= ahead
            groups.append(("ahead", str(ahead), judged.answers(cut).filter(here, had_time)))
        groups += [
            ("borrowed", name, judged.at_failure(name).filter(here)) for name in runs.lenders
        ]
        groups.append((LOGIC, LOGIC, logic.filter(here)))
        groups += [("rung", name, table.filter(here)) for name, table in rungs.items()]
        begun = judged.of_whole_logs(kind=FROM_START).filter(here)
        with_past = logs.filter(here).join(begun, on=["scenario", "seed", "setting"], how="semi")
        groups += [(FROM_START, FROM_START, begun), (FROM_START, WITH_PAST, with_past)]
        for part, name, group in groups:
            if group.height:
                ask("rates", group, setting=setting, part=part, name=name)
        if setting not in {ALL_SETTINGS, reference}:
            there, pair = answers.filter(setting=reference), ["scenario", "seed"]
            same = pl.format("{}-{}", *pair)
            paired = of_setting.join(there, on=pair, how="semi").with_columns(run_id=same)
            if paired.height:
                others = there.with_columns(run_id=same)
                ask("difference", paired, others, setting=setting, part=LESS, name=reference)
        for family, table in without.items():
            ask("lost", of_setting, table, setting=setting, part="family", name=family)
    return st.parallel_map(_rows, tasks, workers)


def _rows(
    metric: str,
    answers: tuple[pl.DataFrame, ...],
    settings: st.ScenarioIntervalSettings,
    keys: Mapping[str, str],
) -> pl.DataFrame:
    """Rates of some answers, or their difference from others, with how many runs there are."""
    if metric == "rates":
        found = rates_of(answers[0], settings)
    else:
        found = {metric: difference(answers[0], answers[1], settings)}
    runs = pl.lit(answers[0].height, pl.Int32)
    return st.estimate_rows(found, **keys).with_columns(runs=runs)


def of_methods(
    predictions: pl.DataFrame,
    contrasts: Sequence[tuple[str, str]],
    settings: st.ScenarioIntervalSettings,
) -> Iterator[pl.DataFrame]:
    """Rates of methods that were fitted to the same runs, and named differences."""
    for (method,), part in predictions.group_by("method", maintain_order=True):
        found = rates_of(part, settings)
        for left, other in contrasts:
            if left == method:
                answers = predictions.filter(method=other)
                found[f"less_{other}"] = difference(part, answers, settings)
        runs = pl.lit(part["run_id"].n_unique(), pl.Int32)
        yield st.estimate_rows(found, method=method).with_columns(runs=runs)


def blind_rates(
    versions: Sequence[VersionVerdicts],
    forest: pl.DataFrame,
    setting: str,
    settings: st.ScenarioIntervalSettings,
) -> dict[str, st.Interval]:
    """Accuracies of the version and the forest on runs that both had not seen, if it judged any."""
    version, half = UNSEEN
    judged = [each for each in versions if each.rules.version == version]
    answers = [each.at_failure().filter(half=half, setting=setting) for each in judged]
    if not answers or answers[0].is_empty():
        return {}
    beside = forest.join(answers[0], on="run_id", how="semi")
    repeated = answers[0].drop("repeat").join(beside.select("run_id", "repeat"), on="run_id")
    return {
        "version_2": rates_of(answers[0], settings)["accuracy"],
        "forest": rates_of(beside, settings)["accuracy"],
        "difference": difference(repeated, beside, settings),
    }


def decisive(judged: VersionVerdicts) -> pl.DataFrame:
    """What decided, and how many runs of a setting it was right and wrong about."""
    keys = ("setting", "decided_kind", "decided_by")
    named = pl.col("decided_by", "decided_kind").fill_null("nothing")
    right, wrong = (each.sum().cast(pl.Int32) for each in (st.right(), ~st.right()))
    counted = judged.at_failure().with_columns(named).group_by(keys).agg(right=right, wrong=wrong)
    order = ("setting", pl.col("right") + pl.col("wrong"), "decided_by")
    version = pl.lit(judged.rules.version).alias("version")
    found = counted.select(version, *keys, "right", "wrong")
    return found.sort(order, descending=[False, True, False])


def delays(judged: VersionVerdicts) -> Iterator[pl.DataFrame]:
    """How many steps after onset the first invariant breaks, by setting."""
    delay = pl.col("first_break") - pl.col("onset_step")
    answers = judged.of_whole_logs().with_columns(delay=delay)
    after = pl.col("delay").filter(pl.col("delay") >= 0)
    for setting in (ALL_SETTINGS, *sorted(answers["setting"].unique())):
        here = answers if setting == ALL_SETTINGS else answers.filter(setting=setting)
        yield here.select(
            version=pl.lit(judged.rules.version),
            setting=pl.lit(setting),
            runs=pl.len().cast(pl.Int32),
            before=(pl.col("delay") < 0).sum().cast(pl.Int32),
            never=pl.col("first_break").is_null().sum().cast(pl.Int32),
            median=after.median().cast(pl.Float64),
            low=after.quantile(0.25, "linear").cast(pl.Float64),
            high=after.quantile(0.75, "linear").cast(pl.Float64),
        )


ALARM_SCHEMA: Final = pl.Schema(
    {
        **dict.fromkeys(("version", "setting", "kind", "bounds"), pl.String()),
        **dict.fromkeys(("alarmed", "n"), pl.Int32()),
        **dict.fromkeys(("value", "ci_low", "ci_high"), pl.Float64()),
    }
)


def false_alarms(
    judged: VersionVerdicts, lenders: Sequence[str], reference: str, confidence: float
) -> pl.DataFrame:
    """How many healthy runs get an answer: in each setting, in all, in other architectures."""
    fitted = [each for each in judged.rules.invariants if each.bound is None]
    architecture = pl.col("setting").str.split("-").list.first()
    pooled = {
        ALL_SETTINGS: pl.lit(value=True),
        OTHER_ARCHITECTURES: architecture != reference.split("-", maxsplit=1)[0],
    }
    rows = []
    for kind, (of_runs, half) in HEALTHY.items():
        conditions = {
            LOGIC: judged.without(fitted, of_runs),
            OWN: judged.of_whole_logs(OWN, of_runs),
            **{lender: judged.of_whole_logs(lender, of_runs) for lender in lenders},
        }
        for bounds, all_answers in conditions.items():
            answers = all_answers if half is None else all_answers.filter(half=half)
            settings = sorted(answers["setting"].unique())
            own = {each: pl.col("setting") == each for each in settings}
            for setting, those in (pooled | own).items():
                here = answers.filter(those)
                if here.height:
                    alarmed = int((here["prediction"] != st.ABSTAIN).sum())
                    value = alarmed / here.height
                    key = (judged.rules.version, setting, kind, bounds)
                    interval = st.wilson(value, here.height, confidence)
                    rows.append((*key, alarmed, here.height, value, *interval))
    return pl.DataFrame(rows, schema=ALARM_SCHEMA, orient="row")
