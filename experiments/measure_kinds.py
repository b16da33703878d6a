"""Stage measure_kinds: what was learnt of the six architectures says of other kinds of network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from failbench.base import measuring as st
from failbench.base.detector import DetectorParams
from failbench.base.method_settings import (
    EbmSettings,
    LearnedRulesSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
    SimpleRulesSettings,
)
from failbench.base.predictions import first_repeats
from failbench.base.records import Record
from failbench.base.slices import AcrossArchitectures
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.model import Model, read_model
from failbench.diagnose.readers.records import log_of_history
from failbench.diagnose.words import WordWeights, read_words
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import feature_table, read_features
from failbench.monitor.history import History
from failbench.monitor.invariants import Bound
from failbench.monitor.records.tables import histories, read_monitored
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import by_architecture
from failbench.recording.kinds.plan import (
    CAUSES,
    KINDS,
    Kind,
    KindsWanted,
    faults_of,
    params_of,
    read_other_causes,
    scenarios_of,
)
from failbench.recording.plan import RecordParams
from failbench.recording.validity.check import check
from known_logs import at_failure
from recordings import read_scenarios_of
from shared.carried import NONE, read_carried
from shared.kinds import COUNT_SCHEMA, METHODS, MONITOR_SCHEMA

RECORDED, SCENARIOS = Path("data/kinds"), Path("data/scenarios")
MONITORED = RECORDED / "monitor"
CARRIED = Path("data/measurements/carried_bounds.parquet")
PREDICTIONS = Path("data/predictions/kinds")
FEATURES = Path("data/measurements/kinds/features.parquet")
ANSWERS = Path("data/measurements/kinds/monitor.parquet")
MODEL = Path("src/failbench/fitted/log.json")
WORDS_TABLE = Path("src/failbench/fitted/words.npy")
COUNTS = Path("data/measurements/kinds/recorded.parquet")


def method_settings() -> dict[str, Record]:
    """The settings of each method that is asked."""
    return {
        "random_forest": st.read_section("random_forest", RandomForestSettings),
        "logistic_regression": st.read_section("logistic_regression", LogisticRegressionSettings),
        "ebm": st.read_section("ebm", EbmSettings),
        "learned_rules": st.read_section("learned_rules", LearnedRulesSettings),
        "simple_rules": st.read_section("simple_rules", SimpleRulesSettings),
    }


def predictions_of(
    method: str,
    settings: Record,
    six: pl.DataFrame,
    kinds: pl.DataFrame,
    splits: pl.DataFrame,
    study: AcrossArchitectures,
) -> pl.DataFrame:
    """What fits to the six say of the failing runs of each kind: of new causes, and of known ones.

    Healthy runs that rules know are of the six as well.
    """
    failing, healthy = (pl.col("kind") == kind for kind in ("failure", "success"))
    parts = []
    for kind in kinds["architecture"].unique().sort():
        own = kinds.filter(failing, architecture=kind)
        parts.append(
            nested_cv(
                pl.concat([six.filter(failing), own]),
                six.filter(healthy),
                splits,
                method,
                settings,
                {st.PRIMARY_SET: FEATURE_SETS[st.PRIMARY_SET]},
                study.seed,
                st.workers(),
                by_architecture(splits, [kind], study.known_seed),
            )
        )
    return pl.concat(parts).sort(st.PREDICTION_SCHEMA.names()[:6])


def answer(
    run: dict[str, Any],
    history: History,
    failure: int | None,
    category: str | None,
    bounds: dict[str, Bound],
    model: Model,
    weights: WordWeights,
) -> dict[str, Any]:
    """What the package says of a monitored run, cut at its failure."""
    log = log_of_history("monitor", at_failure(history, failure))
    said = diagnosis_of(log, bounds, model=model, weights=weights)
    named = {name: run[name] for name in ("run_id", "kind", "scenario", "architecture", "seed")}
    verdict = {"status": said.status, "prediction": said.category or st.ABSTAIN}
    return {**named, **verdict, "category": category}


def counts_of(
    kind: Kind, telemetry: st.Telemetry, scenarios: tuple[st.Scenario, ...]
) -> pl.DataFrame:
    """What was recorded of a kind, and how much of it passes the check of all recordings."""
    record, wanted = st.read_section("record", RecordParams), st.read_section("kinds", KindsWanted)
    detector = st.read_section("detector", DetectorParams)
    recorded = telemetry.select(pl.col("architecture") == kind)
    own = scenarios_of(kind, scenarios, read_other_causes(CAUSES))
    params, codes = params_of(kind, record, wanted), faults_of(kind).codes
    (checked,) = check(own, recorded, params, detector, codes, benchmark=False).settings
    pairs = zip(own, scenarios, strict=True)
    counts = {
        "causes": len({run.scenario for run in checked.runs}),
        "not_applicable": len(checked.not_applicable),
        "other_fault": sum(new.fault.name != old.fault.name for new, old in pairs),
        "seeds": len({run.seed for run in checked.runs}),
        "failing_runs": len(checked.runs),
        "passed": sum(run.passed for run in checked.runs),
        "equal_before_onset": sum(run.equal_before_onset for run in checked.runs),
        "twins_healthy": sum(run.twin_healthy for run in checked.runs),
        "successes": checked.successes,
    }
    rows = [(kind, name, float(count)) for name, count in counts.items()]
    return pl.DataFrame(rows, COUNT_SCHEMA, orient="row")


def main() -> None:
    study = st.read_section("across_architectures", AcrossArchitectures)
    recorded = st.read_telemetry(RECORDED)
    scenarios, settings = read_scenarios_of(recorded.runs, SCENARIOS), method_settings()
    splits = first_repeats(st.read_splits(), study.repeats, "across_architectures.repeats")
    six, bounds = study.slice(read_features()), read_carried(CARRIED)[NONE]
    known = bounds, read_model(MODEL), read_words(WORDS_TABLE)
    monitored = [*histories(read_monitored(MONITORED))]
    # a fault that does a kind no harm leaves nothing to name: it is counted, and not asked about
    harmless = (pl.col("kind") == "failure") & (pl.col("outcome") == "completed")
    telemetry = recorded.select(~harmless)
    table = feature_table(telemetry, scenarios)
    named = [name for name in KINDS if name in set(table["architecture"])]
    counted = pl.concat(counts_of(name, recorded, scenarios) for name in named)
    for method in METHODS:
        predictions = predictions_of(method, settings[method], six, table, splits, study)
        st.write_parquet(predictions, PREDICTIONS / f"{method}.parquet")
        st.print_accuracy(predictions)
    st.write_parquet(table, FEATURES)
    st.write_parquet(counted, COUNTS)
    failures = telemetry.runs.filter(kind="failure")
    failed = dict(failures.select("run_id", "failure_step").iter_rows())
    categories = {each.id: each.category for each in scenarios}
    tasks = [
        (run, history, failed.get(run["run_id"]), categories.get(run["scenario"]), *known)
        for run, history in monitored
        if run["kind"] != "failure" or run["run_id"] in failed
    ]
    rows = st.parallel_map(answer, tasks, st.workers())
    st.write_parquet(pl.DataFrame(rows, MONITOR_SCHEMA).sort("run_id"), ANSWERS)


if __name__ == "__main__":
    st.run(main)
