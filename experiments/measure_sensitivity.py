"""Stage measure_sensitivity: predictions with choices of the main study made otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import by_scenario, make_splits
from recordings import read_scenarios_of
from shared import sensitivity as design
from shared.sensitivity import SensitivitySettings

SCENARIOS = Path("data/scenarios")
PREDICTIONS = Path("data/predictions/sensitivity")


def measure(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    scenarios: tuple[st.Scenario, ...],
    methods: Mapping[str, st.Record],
    study: st.ReferenceStudy,
    settings: SensitivitySettings,
    workers: int = 1,
) -> dict[str, pl.DataFrame]:
    """Predict with each choice made the other way."""
    if settings.run_seed not in study.run_seeds:
        raise st.BadInputError(
            "params.yaml",
            "sensitivity.run_seed",
            f"the main study has no runs of seed {settings.run_seed}.",
            f"Name one of nested_cv.run_seeds: {', '.join(map(str, study.run_seeds))}.",
        )
    failures, successes = study.failures(features), study.successes(features)
    first = st.first_repeats(splits, settings.repeats, "sensitivity.repeats")
    few = st.first_repeats(splits, settings.interaction_repeats, "sensitivity.interaction_repeats")
    apart = splits_by_fault(failures, splits, scenarios, settings.repeats, study.seed)
    inputs = {
        design.ONE_SEED: (study.with_seed(settings.run_seed).failures(features), first),
        design.FAULTS_APART: (failures, apart),
        design.INTERACTIONS: (failures, few),
    }
    predictions: dict[str, list[pl.DataFrame]] = {method: [] for method in methods}
    for variant, refitted in design.VARIANTS.items():
        runs, folds = inputs[variant]
        for method in [name for name in refitted if name in methods]:
            fitted = methods[method]
            if variant == design.INTERACTIONS:
                fitted = fitted.model_copy(update={"interactions": settings.interactions})
            answers = nested_cv(
                runs,
                successes,
                folds,
                method,
                fitted,
                {design.FEATURE_SET: FEATURE_SETS[design.FEATURE_SET]},
                study.seed,
                workers,
                by_scenario(variant, folds),
            )
            predictions[method].append(answers)
    return {method: pl.concat(answers) for method, answers in predictions.items()}


def splits_by_fault(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    scenarios: tuple[st.Scenario, ...],
    repeats: int,
    seed: int,
) -> pl.DataFrame:
    """As many folds as the splits have, with the scenarios of one fault in one fold."""
    faults = pl.DataFrame(
        {
            "scenario": [scenario.id for scenario in scenarios],
            "fault": [scenario.fault.name for scenario in scenarios],
        }
    )
    labelled = failures.select("scenario", "category").unique().join(faults, on="scenario")
    return make_splits(labelled, splits["fold"].n_unique(), repeats, seed, group="fault")


def main() -> None:
    methods = {
        "simple_rules": st.read_section("simple_rules", st.SimpleRulesSettings),
        "improved_rules": st.read_section("improved_rules", st.ImprovedRulesSettings),
        "decision_tree": st.read_section("decision_tree", st.DecisionTreeSettings),
        "random_forest": st.read_section("random_forest", st.RandomForestSettings),
        "ebm": st.read_section("ebm", st.EbmSettings),
    }
    features = read_features()
    measured = measure(
        features,
        st.read_splits(),
        read_scenarios_of(features, SCENARIOS),
        methods,
        st.read_section("nested_cv", st.ReferenceStudy),
        st.read_section("sensitivity", SensitivitySettings),
        st.workers(),
    )
    for method, predictions in measured.items():
        st.write_parquet(predictions, PREDICTIONS / f"{method}.parquet")
        st.print_accuracy(predictions)


if __name__ == "__main__":
    st.run(main)
