"""Captions against the rows that their tables show, counted anew from what was recorded."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import polars as pl
import pytest
import yaml

from pipeline import REPOSITORY

TABLES = REPOSITORY / "paper/tables"
PREDICTIONS = "data/predictions"
NESTED = f"{PREDICTIONS}/nested_cv/random_forest.parquet"
RUNS = "data/telemetry/runs.parquet"
MONITORED = "data/monitor/runs.parquet"
LOGS = "data/measurements/diagnose_logs/answers.parquet"
PEERS = "data/peers/default_plus_plus_verdicts.parquet"
STUDY = {"architecture": "transformer", "optimizer": "adamw"}
DISTILBERT = pl.col("run_id").str.contains("distilbert")

SIZE = re.compile(
    r"(?<![\d.,×+−-])(?<!fewer than )(\d[\d,]*)"
    r"(?: (?:failing|healthy|successful|unknown|hardest))* "
    r"(runs|scenarios|seeds|repeats|folds|settings|successes|twins|architectures)\b(?! or fewer)"
)
N = re.compile(r"\bn = (\d+)\b")
LEVEL = re.compile(r"(\d+) %(?: [A-Za-z']+){0,3} intervals?\b")
ONE_SETTING = re.compile(
    r"one setting \(([\w-]+)\)|reference (?:setting|architecture)|main study's setting"
)
EVERY_SETTING = re.compile(r"\ball (?:\d+ )?settings\b")


@cache
def table(path: str) -> pl.DataFrame:
    return pl.read_parquet(REPOSITORY / path)


def rows(path: str, *conditions: pl.Expr, **equal: object) -> Callable[[], pl.DataFrame]:
    """The rows of a file that meet the conditions, with architecture and optimizer of their run."""

    def read() -> pl.DataFrame:
        shown = table(path)
        missing = {"scenario", "seed", "architecture", "optimizer", "kind"} - set(shown.columns)
        if missing and "run_id" in shown.columns:
            known = table(RUNS).select("run_id", *missing)
            shown = shown.join(known, on="run_id", how="left")
        return shown.filter(*conditions, **equal)

    return read


def lead_time_calibration() -> pl.DataFrame:
    """Half of the scenarios of each category, drawn: which ones does not matter to the count."""
    healthy = table("data/measurements/lead_time/healthy_scores.parquet")
    parts = []
    for group in healthy.partition_by("category"):
        names = group["scenario"].unique().sort()
        drawn = names.head(round(0.5 * len(names))).implode()
        parts.append(group.filter(pl.col("scenario").is_in(drawn)))
    return pl.concat(parts)


def defaults() -> pl.DataFrame:
    """The runs of DEFault that did not crash; a row is a run."""
    answers = table("data/measurements/external_default/answers.parquet")
    tested = answers.filter(pl.col("task") == "detection", pl.col("method") == "simple_rules")
    return tested.select(run_id="row")


PARAMS = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))


def bugs() -> pl.DataFrame:
    """Programs that were re-created, each with a twin; some are of several ranks."""
    return table("data/outside/runs.parquet").filter(kind="twin").with_columns(run_id="scenario")


def default_folds() -> pl.DataFrame:
    """No file has them: they are a parameter."""
    return pl.DataFrame({"fold": range(PARAMS["external_default"]["folds"])})


MAIN = rows(NESTED, feature_set="19")
RECORDED = rows(RUNS)
FAILURES = rows(RUNS, kind="failure")
REFERENCE = rows(RUNS, kind="failure", **STUDY)
TWINS = rows(RUNS, kind="twin", **STUDY)
SUCCESSES = rows(RUNS, kind="success")
OWN_SUCCESSES = rows(RUNS, kind="success", **STUDY)
UNKNOWN = rows(NESTED, category="unknown")
ABLATION = rows(f"{PREDICTIONS}/ablation/random_forest.parquet")
IMPORTANCE = rows(f"{PREDICTIONS}/importance/random_forest.parquet")
ANATOMY = rows(f"{PREDICTIONS}/unknown_anatomy/random_forest.parquet")
ACROSS = rows(f"{PREDICTIONS}/across_architectures/random_forest.parquet")
HARD = rows("data/measurements/difficulty/scenarios.parquet", measured="hard")
LOG_RUNS = rows(LOGS, kind="failure")
LOG_SUCCESSES = rows(LOGS, kind="success")
HALF = rows(
    NESTED,
    pl.col("scenario").is_in(
        pl.read_csv(REPOSITORY / "data/monitor/halves.csv")
        .filter(half="test")["scenario"]
        .implode()
    ),
)
PREFLIGHT = rows("data/preflight/answers.parquet")
EQUAL = rows("data/preflight/answers.parquet", pl.col("compared_steps") > 0)
LOOKED = rows("data/preflight/answers.parquet", kind="failure")
ASKED = rows(PEERS, DISTILBERT, kind="failure")
ASKED_TWINS = rows(PEERS, DISTILBERT, kind="twin")
READ = rows(PEERS, DISTILBERT, pl.col("unreadable").is_null(), kind="failure")
LENSES = rows("data/reasoning/traces.parquet")

SOURCES: dict[str, tuple[Callable[[], pl.DataFrame], ...]] = {
    "ablation": (ABLATION,),
    "abstention": (MAIN,),
    "architectures": (ACROSS, MAIN),
    "benchmark/improved_signals": (OWN_SUCCESSES,),
    "benchmark/methods_read": (MAIN,),
    "benchmark/scenarios": (REFERENCE,),
    "benchmark/scenarios_summary": (RECORDED, FAILURES, SUCCESSES),
    "benchmark/simple_rules": (OWN_SUCCESSES,),
    "controls": (rows(f"{PREDICTIONS}/controls/forest.parquet"),),
    "diagnose_logs": (LOG_RUNS, LOG_SUCCESSES, rows(LOGS, kind="failure", repeat=0), REFERENCE),
    "difficulty": (FAILURES, REFERENCE, HARD),
    "external_default": (defaults, default_folds),
    "hybrid": (MAIN,),
    "importance": (IMPORTANCE, ABLATION),
    "intervals": (MAIN,),
    "label_audit": (MAIN,),
    "lead_time": (MAIN, lead_time_calibration),
    "monitor": (HALF, REFERENCE, TWINS, rows(MONITORED, kind="failure")),
    "negative_results": (RECORDED,),
    "onset": (MAIN, OWN_SUCCESSES, FAILURES),
    "outside_list": (bugs,),
    "peers": (MAIN, TWINS, OWN_SUCCESSES, ASKED, ASKED_TWINS, READ),
    "per_category": (MAIN,),
    "portability": (rows(f"{PREDICTIONS}/portability/random_forest.parquet"),),
    "preflight": (LOOKED, EQUAL),
    "reasoning_lenses": (LENSES,),
    "significance": (MAIN,),
    "tradeoff": (MAIN,),
    "unknown_anatomy": (ANATOMY, UNKNOWN),
}
"""What the rows of a table, or of all tables of a study, are of."""

ELSEWHERE = {
    "human_baseline/human_baseline": "scenarios of a fold of simulated studies",
    "reasoning_lenses/finding": "models with an expected verdict",
    "reasoning_lenses/reasoning_lenses": "models",
}
"""Tables with a size that is of no table of runs, and what it is of."""


def captions() -> dict[str, str]:
    """What stands around the rows of every committed table, by study and name."""
    found = {}
    for path in sorted(TABLES.glob("*/*.md")):
        lines = path.read_text("utf-8").splitlines()
        said = "\n".join(line for line in lines if not line.startswith("|"))
        found[f"{path.parent.name}/{path.stem}"] = said
    return found


CAPTIONS = captions()
SCOPED = [
    name
    for name, said in CAPTIONS.items()
    if name not in ELSEWHERE
    and any(form.search(said) for form in (SIZE, N, ONE_SETTING, EVERY_SETTING))
]


def settings_of(shown: pl.DataFrame) -> set[str]:
    if not {"architecture", "optimizer"} <= set(shown.columns):
        return set()
    return set(shown.select(pl.format("{}-{}", "architecture", "optimizer")).to_series())


def sizes(shown: pl.DataFrame) -> dict[str, set[int]]:
    """How many of what a caption may name there are."""

    def count(*columns: str) -> set[int]:
        known = set(columns) <= set(shown.columns)
        return {shown.select(columns).drop_nulls().n_unique()} if known else set()

    runs = count("run_id")
    return {
        **dict.fromkeys(("runs", "successes", "twins"), runs),
        "scenarios": count("scenario"),
        "seeds": count("seed"),
        "repeats": count("repeat"),
        "folds": count("fold") | count("repeat", "fold"),
        "settings": count("architecture", "optimizer") | count("architecture", "seed"),
        "architectures": count("architecture"),
        "n": count("scenario") | runs,
    }


def declared(name: str) -> list[pl.DataFrame]:
    study = name.partition("/")[0]
    return [read() for read in SOURCES.get(name, SOURCES.get(study, ()))]


@pytest.mark.parametrize("name", SCOPED)
def test_a_caption_names_the_sizes_and_settings_of_the_rows_that_it_shows(name):
    shown = declared(name)
    assert shown, f"{name} names a size or a setting: declare what its rows are of in SOURCES"
    lines = (TABLES / f"{name}.md").read_text("utf-8").splitlines()
    printed = max(sum(line.startswith("|") for line in lines) - 2, 0)
    said = [(noun, number) for number, noun in SIZE.findall(CAPTIONS[name])]
    said += [("n", number) for number in N.findall(CAPTIONS[name])]
    for noun, number in said:
        counted = set().union(*(sizes(rows_of)[noun] for rows_of in shown), {printed})
        assert int(number.replace(",", "")) in counted, (noun, number, sorted(counted))
    found = [settings_of(rows_of) for rows_of in shown]
    for named in ONE_SETTING.finditer(CAPTIONS[name]):
        setting = named[1] or "-".join(STUDY.values())
        assert {setting} in found, named[0]
    if EVERY_SETTING.search(CAPTIONS[name]):
        assert settings_of(table(RUNS)) in found


def test_captions_name_the_confidence_of_the_intervals_that_they_show():
    levels = {level for said in CAPTIONS.values() for level in LEVEL.findall(said)}
    assert levels == {f"{100 * PARAMS['statistics']['confidence']:g}"}


def test_a_wrong_size_or_setting_would_be_found():
    assert SIZE.findall("the 228 failing runs of 76 scenarios") == [
        ("228", "runs"),
        ("76", "scenarios"),
    ]
    assert 76 not in sizes(HALF())["scenarios"]
    assert settings_of(FAILURES()) != settings_of(REFERENCE())
