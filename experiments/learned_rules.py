"""Stage learned_rules: the learned rules as a list to read, and what they ask first."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.learned_rules import LearnedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.studies.learned_rules.results import learned_signals
from failbench.studies.learned_rules.tables import rules_table, signals_table
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
METRICS = Path("data/metrics/learned_rules.json")
POINTS = Path("data/plots/learned_rules.csv")
TABLES = Path("paper/tables")
SHARES = ("at_root", "on_top")


def main() -> None:
    study = read_section("nested_cv", ReferenceStudy)
    found = learned_signals(
        study.failures(read_output(FEATURES)),
        read_output(SPLITS),
        read_section("learned_rules", LearnedRulesSettings),
        FEATURE_SETS["19"],
        study.seed,
        workers(),
    )
    shares = found.signals.with_columns(pl.selectors.float().round(DECIMALS))
    metrics = {
        row["signal"]: {name: {"value": row[name], "n": row["fits"]} for name in SHARES}
        for row in shares.iter_rows(named=True)
    }
    write_metrics(METRICS, {"rules": {"value": len(found.rules)}, "signals": metrics})
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    shares.write_csv(POINTS)
    write_table(rules_table(found.rules), TABLES)
    write_table(signals_table(shares), TABLES)
    columns = ("signal", "group", *SHARES)
    print_table(columns, shares.select(columns).rows())


if __name__ == "__main__":
    run(main)
