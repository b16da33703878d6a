"""Stage kinds: what the paper guesses of Mamba, CNNs and ViTs in its Tables 7 to 9, measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from failbench import study as st
from failbench.base.slices import AcrossArchitectures
from failbench.base.telemetry import read_telemetry
from failbench.features.catalogue import PAPER_FEATURES
from failbench.features.feature_table import FEATURE_SCHEMA, read_features
from failbench.statistics.scenario_values import by_category
from shared.kinds import COUNT_SCHEMA, KIND_LABELS, METHODS, MONITOR_SCHEMA, Rule

RULE = Path("data/kinds/rule.csv")
TELEMETRY, OF_SIX = Path("data/kinds"), Path("data/telemetry")
PREDICTIONS = Path("data/predictions/kinds")
ACROSS = Path("data/predictions/across_architectures")
FEATURES = Path("data/measurements/kinds/features.parquet")
ANSWERS = Path("data/measurements/kinds/monitor.parquet")
COUNTS = Path("data/measurements/kinds/recorded.parquet")

SIX = "six"
"""In the place of a kind: the architectures of the paper."""
KEYS = ("about", "name", "kind", "metric")
NAMED: Final = tuple(name for name in st.CATEGORIES if name != "unknown")
"""Categories of the paper's Tables 7 and 9."""

ROWS_OF_TABLE_8: Final[Mapping[str, tuple[str, ...]]] = {
    "tokenization": ("wrong_encoding", "token_ids_permuted"),
    "vocabulary": ("added_tokens", "vocabulary_too_small"),
    "perplexity": (),
    "data_ratio": ("batch_repeated", "single_document"),
}
"""The scenarios of a row; those of the third are decided by what was measured."""
CHANCE = 0.9 * 10  # of the exponential of the loss, with ten classes
ALLOWED = 0.15

COUNTED = ("causes", "not_applicable", "other_fault", "seeds", "failing_runs", "passed")
"""What is counted of the recordings of a kind."""

Marks = dict[tuple[str, str], str]
"""What a rule makes of a name (a category or a feature) in a kind."""


def read_rule(path: Path) -> tuple[dict[str, float], float]:
    """Least differences of categories by mark, the highest first, and the share of a feature."""
    rows = st.read_rows(path, Rule, "Restore it with git.")
    least = {row.mark: float(row.threshold or -np.inf) for row in rows if row.subject == "category"}
    (defined,) = (float(row.threshold) for row in rows if row.mark == "defined")
    return {mark: points / 100 for mark, points in least.items()}, defined


def of_methods(
    on_kinds: pl.DataFrame, on_six: pl.DataFrame, settings: st.ScenarioIntervalSettings
) -> Iterator[pl.DataFrame]:
    """How often each method is right, on new and on known causes, in each kind and in the six."""
    both = pl.concat([on_kinds, on_six.with_columns(architecture=pl.lit(SIX))])
    both = both.with_columns(seed=pl.col("run_id").rank("dense").cast(pl.Int32))
    for (study, method, kind), part in both.group_by("study", "method", "architecture"):
        found = st.few_or_many(part, (st.METRICS["accuracy"],), settings)
        yield st.estimate_rows(found, about=study, name=method, kind=kind)


def of_categories(
    on_kinds: pl.DataFrame, on_six: pl.DataFrame, settings: st.ScenarioIntervalSettings
) -> Iterator[pl.DataFrame]:
    """How often a method is right of each category, and what that is less than on the six."""
    for (method, category), own in on_kinds.filter(study=st.LEFT_OUT).group_by(
        "method", "category"
    ):
        if category not in NAMED:
            continue
        there = on_six.filter(study=st.LEFT_OUT, method=method, category=category)
        sides = {SIX: numbered(there)} | {
            kind: numbered(own.filter(architecture=kind)) for kind in own["architecture"].unique()
        }
        for kind, side in sides.items():
            found = st.few_or_many(side, (st.METRICS["accuracy"],), settings)
            if kind != SIX:
                found["difference"] = st.independent_difference(
                    side, sides[SIX], settings, "share right in a kind less that in the six"
                )
            yield st.estimate_rows(found, about=category, name=method, kind=kind)


def numbered(runs: pl.DataFrame) -> pl.DataFrame:
    """Runs of several architectures as seeds of their scenarios."""
    return runs.with_columns(seed=pl.col("run_id").rank("dense").cast(pl.Int32))


def area(
    runs: pl.DataFrame, feature: str, category: str, settings: st.ScenarioIntervalSettings
) -> st.Interval:
    """Area under the curve of a feature, a category's failing runs against all others."""
    parts, seeds = by_category(numbered(runs).sort("category", "scenario", "seed"))
    place = [*parts].index(category)
    values = [part[feature].to_numpy() for part in parts.values()]
    own, others = values.pop(place)[:, None], np.concatenate(values)
    above = (own > others) + 0.5 * (own == others)

    def statistic(weights: st.Weights) -> st.Array:
        of_others = [*weights]
        of_own = of_others.pop(place)
        rest = np.concatenate(of_others, axis=-1)
        total = of_own.sum(-1) * rest.sum(-1)
        return np.asarray(((of_own @ above) * rest).sum(-1) / total)

    estimand = "probability that the feature of the category's run is the higher one"
    return st.resampled_interval(seeds, statistic, settings, estimand)


def turned(runs: pl.DataFrame, feature: str) -> pl.DataFrame:
    return runs.with_columns(-pl.col(feature))


def point_of(runs: pl.DataFrame, feature: str, category: str) -> float:
    """The area alone, by ranks."""
    ranks = runs.with_columns(rank=pl.col(feature).rank("average"))
    own = ranks.filter(category=category)["rank"].to_numpy()
    others = ranks.height - len(own)
    return float((own.sum() - len(own) * (len(own) + 1) / 2) / (len(own) * others))


def of_features(
    failing: Mapping[str, pl.DataFrame], settings: st.ScenarioIntervalSettings
) -> Iterator[pl.DataFrame]:
    """Of each feature its category and direction on the six, and its areas there and elsewhere."""
    for feature in (each.name for each in PAPER_FEATURES):
        known = failing[SIX].drop_nulls(feature)
        points = {name: point_of(known, feature, name) for name in NAMED}
        category = max(NAMED, key=lambda name: abs(points[name] - 0.5))
        for kind, runs in failing.items():
            own = runs.drop_nulls(feature)
            if category not in set(own["category"]) or own["category"].n_unique() < 2:
                continue
            directed = own if points[category] >= 0.5 else turned(own, feature)
            found = {"area": area(directed, feature, category, settings)}
            rows = st.estimate_rows(found, about=category, name=feature, kind=kind)
            defined = own.height / runs.height
            share = {"metric": "defined", "value": defined, "n": runs.height}
            yield pl.concat(
                [rows, pl.DataFrame([{"about": category, "name": feature, "kind": kind} | share])],
                how="diagonal_relaxed",
            )


def of_table_8(
    predictions: pl.DataFrame, failing: pl.DataFrame, settings: st.ScenarioIntervalSettings
) -> Iterator[pl.DataFrame]:
    """How often the category is right of the causes of each row of Table 8."""
    values = failing.select("run_id", "perplexity")
    asked = numbered(predictions.join(values, on="run_id", how="left"))
    for name, scenarios in ROWS_OF_TABLE_8.items():
        chosen = asked.filter(pl.col("scenario").is_in(list(scenarios)))
        if not scenarios:
            chosen = asked.filter(pl.col("perplexity") >= CHANCE, category="data_pipeline")
        for (kind,), part in chosen.group_by("architecture"):
            found = st.few_or_many(part, (st.METRICS["accuracy"],), settings)
            yield st.estimate_rows(found, about="table_8", name=name, kind=kind)


def of_monitor(
    answers: pl.DataFrame, settings: st.ScenarioIntervalSettings
) -> Iterator[pl.DataFrame]:
    """Alarms of healthy runs, and how often the category of failing ones is named right."""
    for (kind, run), part in answers.group_by("architecture", "kind"):
        if run == "failure":
            found = st.few_or_many(
                part.with_columns(repeat=pl.lit(0)), (st.METRICS["accuracy"],), settings
            )
            yield st.estimate_rows(found, about="monitor", name=run, kind=kind)
        else:
            alarms = part.select((pl.col("status").is_in(["failed", "unknown"])).mean()).item()
            row = st.wilson_row(alarms, part.height, settings.confidence)
            keys = {"about": "monitor", "name": run, "kind": kind, "metric": "alarms"}
            yield pl.DataFrame([keys | row])


def of_gradients(
    telemetry: Mapping[str, st.Telemetry], six: st.Telemetry, settings: st.ScenarioIntervalSettings
) -> Iterator[pl.DataFrame]:
    """The 99th percentile of healthy gradient norms, median over runs, against that of the six."""
    generator = np.random.default_rng(settings.seed)
    tail = (1 - settings.confidence) / 2
    there = highest_gradients(six)
    for kind, recorded in telemetry.items():
        here = highest_gradients(recorded)
        drawn, others = (
            np.median(generator.choice(each, (settings.resamples, len(each))), axis=1)
            for each in (here, there)
        )
        low, high = np.quantile(drawn / others, (tail, 1 - tail))
        value = float(np.median(here) / np.median(there))
        keys = {"about": "gradients", "name": "ratio", "kind": kind, "metric": "p99"}
        yield pl.DataFrame(
            [keys | {"value": value, "ci_low": low, "ci_high": high, "n": len(here)}]
        )


def highest_gradients(telemetry: st.Telemetry) -> st.Array:
    """The 99th percentile of the gradient norms of each healthy run."""
    healthy = telemetry.select(pl.col("kind") == "success").steps
    of_runs = healthy.group_by("run_id").agg(pl.col("gradient_norm").quantile(0.99))
    return of_runs.sort("run_id")["gradient_norm"].cast(pl.Float64).to_numpy()


def category_marks(found: st.Estimates, least: Mapping[str, float]) -> Marks:
    """The mark of each category in each kind, by what decides; where it is unsure, as far as."""
    marks: Marks = {}
    for row in found.where(name=METHODS[0], metric="difference").frame.to_dicts():
        point, low, high = (mark_of(row[key], least) for key in ("value", "ci_low", "ci_high"))
        unsure = "" if low == high else f" ({low} to {high})"
        marks[row["about"], row["kind"]] = f"{point}{unsure}"
    return marks


def mark_of(difference: float, least: Mapping[str, float]) -> str:
    return next(mark for mark, bound in least.items() if difference >= bound)


def feature_marks(found: st.Estimates, fewest: float) -> Marks:
    """Whether a feature means the same in each kind as on the six."""
    marks: Marks = {}
    areas = found.where(metric="area").frame.to_dicts()
    low = {(row["name"], row["kind"]): row["ci_low"] for row in areas}
    for row in found.where(metric="defined").frame.to_dicts():
        place = row["name"], row["kind"]
        if low[row["name"], SIX] <= 0.5:
            marks[place] = "nothing on the six"
        elif row["value"] < fewest:
            marks[place] = "undefined"
        else:
            marks[place] = "carries over" if low[place] > 0.5 else "does not carry over"
    return marks


def tables(
    found: st.Estimates, marks: Marks, kinds: Sequence[str], paper: st.Reported, said: st.Captions
) -> Iterator[st.Table]:
    """Tables 7 to 9 beside what was measured; methods, features and the monitor in each kind."""
    printed = paper.tables.transfer.rows
    sides = (SIX, *KIND_LABELS)  # a kind that is not recorded has no estimates
    body: list[tuple[str, ...]] = []
    for category, kind in product(NAMED, kinds):
        keys = {"about": category, "name": METHODS[0]}
        sizes = found.row(**keys, kind=kind, metric="accuracy") or {}
        body.append(
            (
                st.words(category),
                KIND_LABELS[kind],
                getattr(printed[category], kind),
                printed[category].table_7 if kind == "cnn" else st.ABSENT,
                marks.get((category, kind), st.ABSENT),
                *(found.cell(**keys, kind=side, metric="accuracy") for side in (SIX, kind)),
                found.cell("points", **keys, kind=kind, metric="difference"),
                str(sizes.get("n", st.ABSENT)),
            )
        )
    yield st.sheet("kinds_categories", body, said)
    body = []
    for name, row in paper.tables.equivalents.rows.items():
        keys = {"about": "table_8", "name": name, "metric": "accuracy"}
        cells = (found.cell(**keys, kind=side) for side in sides)
        body.append((row.transformer, row.cnn, *cells, held(found, name)))
    yield st.sheet("kinds_equivalents", body, said)
    body = []
    for method in METHODS:
        keys = {"name": method, "metric": "accuracy"}
        asked = product((st.LEFT_OUT, st.KNOWN_SCENARIOS), sides)
        rates = (found.cell(**keys, about=study, kind=side) for study, side in asked)
        body.append((st.method_label(method), *rates))
    yield st.sheet("kinds_methods", body, said)
    body = []
    for feature in PAPER_FEATURES:
        rows = found.where(name=feature.name, metric="area")
        areas = [rows.cell("two", kind=SIX)]
        for kind in KIND_LABELS:
            otherwise = "undefined" if kind in kinds else st.ABSENT
            areas += [rows.cell("two", kind=kind), marks.get((feature.name, kind), otherwise)]
        body.append((st.words(feature.name), st.words(rows.frame["about"][0]), *areas))
    yield st.sheet("kinds_features", body, said)
    body = []
    for kind in kinds:
        own = found.where(kind=kind)
        counts = (own.cell("count", about="recordings", metric=name) for name in COUNTED)
        alarms = (own.cell(name=name, metric="alarms") for name in ("success", "twin"))
        right = own.cell(about="monitor", name="failure", metric="accuracy")
        shift = own.cell("two", about="gradients", metric="p99")
        body.append((KIND_LABELS[kind], *counts, *alarms, right, shift))
    yield st.sheet("kinds_monitor", body, said)


def held(found: st.Estimates, name: str) -> str:
    """Whether a row of Table 8 holds in a CNN."""
    rows = [found.row(about="table_8", name=name, kind=kind, metric="accuracy") for kind in
            ("cnn", SIX)]  # fmt: skip
    if rows[0] is None or rows[1] is None:
        return st.ABSENT
    return "holds" if rows[0]["value"] >= rows[1]["value"] - ALLOWED else "does not hold"


def main() -> None:
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    study = st.read_section("across_architectures", AcrossArchitectures)
    least, fewest = read_rule(RULE)
    paper = st.read_reported()
    asked = [
        st.read_outputs(folder, METHODS, st.PREDICTION_SCHEMA) for folder in (PREDICTIONS, ACROSS)
    ]
    on_kinds, on_six = (
        each.filter(pl.col("study").is_in([st.LEFT_OUT, st.KNOWN_SCENARIOS]),
                    feature_set=st.PRIMARY_SET) for each in asked
    )  # fmt: skip
    table = st.read_output(FEATURES, FEATURE_SCHEMA)
    kinds = [name for name in KIND_LABELS if name in set(table["architecture"])]
    failing = {SIX: study.slice(read_features()).filter(kind="failure", seed=study.known_seed)}
    failing |= {name: table.filter(kind="failure", architecture=name) for name in kinds}
    recorded = read_telemetry(TELEMETRY)
    telemetry: dict[str, st.Telemetry] = {
        name: recorded.select(pl.col("architecture") == name) for name in kinds
    }
    of_six = read_telemetry(OF_SIX).select(pl.col("optimizer") == study.optimizer)
    six_failing = study.slice(read_features()).filter(kind="failure")
    perplexities = pl.concat([table.filter(kind="failure"), six_failing])
    decided = [each.filter(study=st.LEFT_OUT, method=METHODS[0]) for each in (on_kinds, on_six)]
    decided[1] = decided[1].with_columns(architecture=pl.lit(SIX))
    parts = [
        *of_methods(on_kinds, on_six, settings),
        *of_categories(on_kinds, on_six, settings),
        *of_features(failing, settings),
        *of_table_8(pl.concat(decided), perplexities, settings),
        *of_monitor(st.read_output(ANSWERS, MONITOR_SCHEMA), settings),
        *of_gradients(telemetry, of_six, settings),
        st.read_output(COUNTS, COUNT_SCHEMA).with_columns(about=pl.lit("recordings"), name="kind"),
    ]
    measured = pl.concat(parts, how="diagonal_relaxed").select(*KEYS, *st.ESTIMATE).sort(KEYS)
    found = st.Estimates.of(measured)
    marks = category_marks(found, least) | feature_marks(found, fewest)
    said = st.Captions.read("kinds", settings, study, found.nested(*KEYS))
    st.publish_estimates(
        "kinds",
        measured,
        KEYS,
        metrics={"marks": {f"{name} in {kind}": mark for (name, kind), mark in marks.items()}},
        tables=tables(found, marks, kinds, paper, said),
        summary=measured.filter(metric="accuracy").select(*KEYS, "value", "ci_low", "ci_high", "n"),
    )


if __name__ == "__main__":
    st.run(main)
