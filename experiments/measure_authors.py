"""Stage measure_authors: what methods that learnt from one author's causes say of another's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from failbench.base import measuring as st
from failbench.base.known_columns import OWN
from failbench.base.records import Record
from failbench.base.slices import AcrossArchitectures
from failbench.diagnose.batch import declaration_named, fitted_method, settings_of
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import (
    RAW_SERIES,
    RAW_TEXT,
    feature_table,
    raw_table,
    read_features,
    to_frame,
)
from failbench.methods.hybrid import HybridTwoWay
from failbench.methods.llm.recorded import recorded_answers
from failbench.monitor.records.scoring import HALF_SCHEMA, ScoringParams, versioned
from failbench.monitor.records.tables import read_monitored
from failbench.monitor.records.verdicts import (
    BROKE,
    VERDICT_SCHEMA,
    break_table,
    ends_of,
    known_course,
    verdict_table,
)
from failbench.monitor.records.versions import Rules, read_rules
from failbench.prediction.hybrids import compose
from failbench.prediction.known import Known
from failbench.prediction.nested_cv import fold_predictions, nested_cv
from failbench.prediction.splits import FoldPlan, ViewPlan, by_scenario, by_view, make_splits
from known_runs import read_known
from recordings import read_recordings
from shared.authors import (
    A_TO_B,
    AS_SCORED,
    B_TO_A,
    BOTH,
    EVIDENCE_SCHEMA,
    VERSION_SCHEMA,
    WITHIN_A,
    WITHIN_B,
    A,
    AuthorsDesign,
    B,
    Scored,
)

ANSWERS = Path("data/llm/recorded_answers.csv")
KNOWN = Path("data/features/known.parquet")
MONITORED = Path("data/monitor")
HALVES = Path("data/monitor/halves.csv")
JUDGED = Path("data/measurements/invariants/verdicts.parquet")
RECORDED = Path("data/author_b/telemetry")
WRITTEN = Path("data/author_b/scenarios")
SCORED = Path("data/author_b/scores.csv")
PREDICTIONS = Path("data/predictions/authors")
EVIDENCE = Path("data/measurements/authors/evidence.parquet")
VERSIONS = Path("data/measurements/authors/versions.parquet")

HYBRIDS = {"hybrid_two_way": "improved_rules", st.ON_INVARIANTS: "invariants"}
"""Hybrids without people, each by its rules; a forest answers where these abstain."""

Recorded = tuple[st.Telemetry, tuple[st.Scenario, ...]]


@dataclass(frozen=True)
class Inputs:
    """What methods read of both authors' runs: features, raw steps, and what the monitor knew.

    The first two have the column ``view``, the author of a failing run's scenario.
    """

    features: pl.DataFrame
    raw: pl.DataFrame
    known: Known

    @classmethod
    def of(cls, first: Recorded, second: Recorded, rules: Rules) -> Inputs:
        """Of all runs of author A, and of those of author B, which no other study has."""
        authors = dict.fromkeys((each.id for each in first[1]), A)
        authors |= dict.fromkeys((each.id for each in second[1]), B)
        view = pl.col("scenario").replace_strict(authors, default=None).alias("view")
        failing = pl.col("kind") == "failure"
        raw = [raw_table(runs.select(failing), scenarios) for runs, scenarios in (first, second)]
        monitored = read_monitored(RECORDED / "monitor")
        ends = ends_of(monitored.runs, second[0].runs)
        known = read_known(KNOWN, st.MONITOR_METHODS)
        course = known_course(break_table(monitored, rules), ends, rules)
        if known is not None:
            course = pl.concat([known.course.select(course.columns), course])
        features = pl.concat([read_features(), feature_table(*second)])
        return cls(features.with_columns(view), pl.concat(raw).with_columns(view), Known(course))

    def read_by(self, method: str, runs: pl.DataFrame) -> pl.DataFrame:
        """What a method reads of runs; it refuses one that no monitor watched."""
        if method in st.WITHOUT_FEATURES:
            return self.raw.join(runs.select("run_id"), on="run_id", how="semi")
        return self.known.beside(runs) if method in st.MONITOR_METHODS else runs


def predictions_of(
    method: str,
    inputs: Inputs,
    settings: Record,
    study: st.ReferenceStudy,
    splits: pl.DataFrame,
    plans: Sequence[FoldPlan],
) -> pl.DataFrame:
    """What fits of a method to one author's failing runs, or both's, say of those kept back."""
    runs = inputs.read_by(method, study.failures(inputs.features))
    columns = FEATURE_SETS[st.PRIMARY_SET]
    if method in st.WITHOUT_FEATURES:
        columns = (*RAW_TEXT, *RAW_SERIES)
    successes, sets = study.successes(inputs.features), {st.PRIMARY_SET: columns}
    fitted = (declaration_named(method), settings, sets, study.seed, st.workers())
    return nested_cv(runs, successes, splits, *fitted, plans)


def as_scored(
    method: str,
    inputs: Inputs,
    settings: Record,
    runs: pl.DataFrame,
    across: AcrossArchitectures,
) -> pl.DataFrame:
    """What ``failbench score`` has a method say of runs of author B."""
    whole = inputs.known.course.filter(pl.col("step").is_null(), bounds=OWN)
    own = inputs.features.filter(pl.col("view").ne_missing(B))
    fitted = fitted_method(method, settings, own, across, whole.drop("bounds", "step"))
    table = inputs.read_by(method, runs).sort("run_id")
    every, plan = np.ones(table.height, dtype=np.bool_), ViewPlan(AS_SCORED, 0, 0, tested_on=(B,))
    keys = {"feature_set": st.PRIMARY_SET, "method": method}
    return fold_predictions(fitted, table, to_frame(table), every, plan, **keys)


def hybrids_of(predictions: pl.DataFrame) -> list[pl.DataFrame]:
    """What the hybrids without people make of their members' predictions."""
    parts = predictions.partition_by("method", as_dict=True)
    forest = parts.get(("random_forest",))
    return [
        compose(name, HybridTwoWay(None, None), parts[rules,], {"classifier": forest})
        for name, rules in HYBRIDS.items()
        if forest is not None and (rules,) in parts
    ]


def asked_once(runs: pl.DataFrame, study: str) -> pl.DataFrame:
    """What the language model that learnt from neither author answered of some runs."""
    texts = {"study": study, "feature_set": st.PRIMARY_SET, "method": st.RECORDED_MODEL}
    keys = {name: pl.lit(text) for name, text in texts.items()}
    places = dict.fromkeys(("repeat", "fold"), pl.lit(0))
    answers = recorded_answers(runs, st.RECORDED_SEED, ANSWERS)
    filled = answers.with_columns(**keys, **places, route=pl.lit(None, pl.String))
    return filled.select(st.PREDICTION_SCHEMA.names()).cast(st.PREDICTION_SCHEMA)


def evidence_of(runs: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What the monitor answered, and which families of invariants decided and broke."""
    families = {invariant.id: invariant.family for invariant in rules.invariants}
    broke = [
        pl.when(pl.col(BROKE[name]) == 1).then(pl.lit(family)) for name, family in families.items()
    ]
    pointed = runs.with_columns(
        family=pl.col("decided_by").replace_strict(families, default=None),
        families=pl.concat_list(broke).list.drop_nulls().list.unique().list.sort(),
    )
    return pointed.select(EVIDENCE_SCHEMA.names()).cast(EVIDENCE_SCHEMA)


def judged_by(
    versions: Iterable[Rules], runs: pl.DataFrame, detected: pl.DataFrame
) -> pl.DataFrame:
    """What each version answers of runs of author B at their failure, by its own bounds."""
    there = pl.col("run_id").is_in(runs["run_id"].implode())
    monitored = read_monitored(RECORDED / "monitor").select(there)
    ends = ends_of(monitored.runs, detected)
    parts = [
        verdict_table(break_table(monitored, rules), ends, rules, (0,)).with_columns(
            version=pl.lit(rules.version)
        )
        for rules in versions
    ]
    return pl.concat(parts)


def answers_of(verdicts: pl.DataFrame, runs: pl.DataFrame, halves: pl.DataFrame) -> pl.DataFrame:
    """What versions answer of runs at their failure, with label and half of the scenario."""
    at_failure = verdicts.filter(steps_ahead=0, bounds=OWN).select("version", "run_id", "answer")
    labelled = runs.select("run_id", "scenario", "category", "seed")
    half = halves.select("scenario", "half")
    rows = at_failure.join(labelled, on="run_id").join(half, on="scenario", how="left")
    return rows.select(VERSION_SCHEMA.names()).cast(VERSION_SCHEMA)


def main() -> None:
    design = st.read_section("authors", AuthorsDesign)
    study = st.read_section("nested_cv", st.ReferenceStudy)
    across = st.read_section("across_architectures", AcrossArchitectures)
    named = (*st.read_names("methods"), *st.WITHOUT_FEATURES)
    methods = [name for name in named if not st.ENTRIES[name].reads_true_category]
    scored = st.read_rows(SCORED, Scored, "Restore it with git.", ("method",))
    settings = {name: settings_of(name, st.PARAMS) for name in methods}
    scoring = st.read_section("monitor", ScoringParams)
    versions = [read_rules(MONITORED, version) for version in scoring.versions]
    rules = versions[-1]
    judged = st.read_output(JUDGED, versioned(VERDICT_SCHEMA))
    halves = st.read_points(HALVES, HALF_SCHEMA)
    first, second = read_recordings(), read_recordings(RECORDED, WRITTEN)
    inputs = Inputs.of(first, second, rules)
    of_b = study.failures(inputs.features).filter(view=B)
    of_a = study.failures(inputs.features).filter(view=A)
    # everything is read before methods are fitted, which takes minutes
    once = [asked_once(of_a, WITHIN_A), asked_once(of_b, A_TO_B)]
    judged_b = judged_by(versions, of_b, second[0].runs)
    answered = [answers_of(judged, of_a, halves), answers_of(judged_b, of_b, halves)]
    labels = pl.concat([st.categories_of(first[1]), st.categories_of(second[1])])
    splits = make_splits(labels, design.folds, design.repeats, design.seed)
    carried = ViewPlan(A_TO_B, 0, 0, trained_on=A, tested_on=(B,))
    returned = ViewPlan(B_TO_A, 0, 0, trained_on=B, tested_on=(A,))
    within_b, both = by_view(WITHIN_B, splits, B, (B,)), by_scenario(BOTH, splits)
    elsewhere = study.model_copy(update=design.elsewhere.model_dump())
    asked = (
        (study, (carried, returned, *within_b, *both)),
        (elsewhere, (carried, *by_view(WITHIN_A, splits, A, (A,)))),
    )
    parts = [
        predictions_of(method, inputs, settings[method], each, splits, plans)
        for method in methods
        for each, plans in asked
    ]
    parts += [*hybrids_of(pl.concat(parts)), *once]
    runs = of_b.filter(pl.col("seed").is_in(design.scored_seeds))
    again = [each.method for each in scored if each.method in methods]
    tasks = [(name, inputs, settings[name], runs, across) for name in again]
    parts += st.parallel_map(as_scored, tasks, st.workers())
    predictions = pl.concat(parts).sort(st.PREDICTION_SCHEMA.names()[:6])
    for (method,), part in predictions.partition_by("method", as_dict=True).items():
        st.write_parquet(part, PREDICTIONS / f"{method}.parquet")
    st.write_parquet(evidence_of(inputs.known.beside(of_b), rules), EVIDENCE)
    st.write_parquet(pl.concat(answered).sort("version", "run_id"), VERSIONS)
    st.print_accuracy(predictions)


if __name__ == "__main__":
    st.run(main)
