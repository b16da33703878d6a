"""Stage measure_monitor: predictions from what the monitor knows, and from features beside them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.monitor_methods import AbstainingSettings, EndingSettings, NoSettings
from failbench.monitor.records.scoring import ScoringParams, versioned
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, known_table, with_known
from failbench.monitor.records.versions import read_rules
from failbench.prediction.nested_cv import nested_cv

MONITORED = Path("data/monitor")
FROZEN = Path("data/monitor/frozen.json")
VERSIONS = Path("data/monitor/versions")
BREAKS = Path("data/measurements/invariants/breaks.parquet")
ENDS = Path("data/measurements/invariants/ends.parquet")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/monitor")

KNOWN_SET = "invariants"
"""The feature set of methods that read what the monitor knows."""

OTHER_SET = "19+keywords"
"""The feature set of the methods beside them, which rules and the error text are part of."""


def main() -> None:
    judged = st.read_section("monitor", ScoringParams)
    study = st.read_section("nested_cv", st.ReferenceStudy)
    settings = {
        "invariants": NoSettings(),
        "invariants_abstaining": st.read_section("invariants_abstaining", AbstainingSettings),
        "ending": st.read_section("ending", EndingSettings),
        "forest_on_invariants": st.read_section("forest_on_invariants", st.RandomForestSettings),
        "simple_rules": st.read_section("simple_rules", st.SimpleRulesSettings),
        "improved_rules": st.read_section("improved_rules", st.ImprovedRulesSettings),
        "random_forest": st.read_section("random_forest", st.RandomForestSettings),
    }
    rules = read_rules(MONITORED, judged.versions[-1])
    breaks = st.read_output(BREAKS, versioned(BREAK_SCHEMA))
    of_version = breaks.filter(pl.col("version") == rules.version).drop("version")
    known = known_table(of_version, st.read_output(ENDS, END_SCHEMA), rules)
    features, splits = (
        st.read_output(FEATURES, FEATURE_SCHEMA),
        st.read_output(SPLITS, st.SPLIT_SCHEMA),
    )
    # all methods learn from the judged runs of the reference setting alone
    runs, successes = with_known(study.failures(features), known), study.successes(features)
    for name, of_method in settings.items():
        label = KNOWN_SET if name in st.MONITOR_METHODS else OTHER_SET
        sets = {label: FEATURE_SETS[OTHER_SET]}  # what is known is read beside any features
        design = (splits, name, of_method, sets, study.seed, st.workers())
        predictions = nested_cv(runs, successes, *design)
        st.write_parquet(predictions, PREDICTIONS / f"{name}.parquet")
        print(name)
        st.print_accuracy(predictions)


if __name__ == "__main__":
    st.run(main)
