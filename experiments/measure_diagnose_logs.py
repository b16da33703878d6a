"""Stage measure_diagnose_logs: diagnoses of logs out of fold, and the models of the package."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.diagnose.fitting import fitted
from failbench.diagnose.model import read_model, write_model
from failbench.monitored.fitting import measured_settings
from failbench.monitored.tables import histories, together
from failbench.monitored.verdicts import END_SCHEMA
from failbench.monitored.versions import read_rules
from failbench.prediction.splits import SPLIT_SCHEMA, first_repeats
from failbench.stage import print_table, read_output, read_section, run, workers
from failbench.studies.diagnose_logs.evidence import evidence_table
from failbench.studies.diagnose_logs.examples import monitored_examples, rendered_examples
from failbench.studies.diagnose_logs.measure import (
    MODELS,
    choices_of,
    cross_validated,
    known_log,
    of_model,
)
from failbench.studies.diagnose_logs.settings import DiagnosedLogs
from failbench.telemetry import read_telemetry, write_parquet

TELEMETRY = Path("data/telemetry")
MONITORED = Path("data/monitor")
ENDS = Path("data/measurements/invariants/ends.parquet")
SPLITS = Path("data/features/splits.parquet")
ANSWERS = Path("data/measurements/diagnose_logs/answers.parquet")
EVIDENCE = Path("data/measurements/diagnose_logs/evidence.parquet")
LOG_MODEL = Path("src/failbench/fitted/log.json")
LOGIC_MODEL = Path("src/failbench/fitted/monitor.json")
BOUNDS_MODEL = Path("src/failbench/fitted/monitor_bounds.json")
FITTED = {"log": LOG_MODEL, "monitor": LOGIC_MODEL, "monitor_bounds": BOUNDS_MODEL}


def main() -> None:
    settings = read_section("diagnose_logs", DiagnosedLogs)
    splits = first_repeats(
        read_output(SPLITS, SPLIT_SCHEMA), settings.repeats, "diagnose_logs.repeats"
    )
    ends = read_output(ENDS, END_SCHEMA)
    rules = read_rules(MONITORED, settings.monitor_version)
    kinds = pl.col("kind").is_in(["failure", "twin", "success"])
    monitored = together(measured_settings(MONITORED).values()).select(kinds)
    taken = pl.col("kind").is_in(["failure", "twin"]) & pl.col("seed").is_in(settings.run_seeds)
    telemetry = read_telemetry(TELEMETRY).select(taken | (pl.col("kind") == "success"))
    examples = rendered_examples(telemetry, settings.formats_per_run, settings.seed, workers())
    failed = monitored.runs.filter(kind="failure").join(ends, on="run_id", how="left")
    examples += monitored_examples(
        histories(monitored),
        dict(failed.select("run_id", "failure_step").iter_rows()),
        rules.bounds,
    )
    answers = []
    for name in MODELS:
        answers.append(cross_validated(examples, name, splits, settings, workers()))
        learnt = [known_log(each) for each in of_model(examples, name)]
        words = f"{len(learnt)} logs of failing and healthy runs of the benchmark"
        write_model(FITTED[name], fitted(learnt, choices_of(settings), words))
    table = pl.concat(answers)
    write_parquet(table, ANSWERS)
    model = read_model(FITTED["log"])
    evidence = evidence_table(telemetry, model, settings.evidence_logs, settings.seed, workers())
    write_parquet(evidence, EVIDENCE)
    summary = (
        table.filter(kind="failure")
        .group_by("model", maintain_order=True)
        .agg(
            logs=pl.len(),
            accuracy=(pl.col("prediction") == pl.col("category")).mean(),
            cause=(pl.col("predicted_cause") == pl.col("cause")).mean(),
        )
    )
    print_table(("model", "logs", "accuracy", "cause"), summary.rows())


if __name__ == "__main__":
    run(main)
