"""Stage measure_portability: methods of one optimizer tested on runs of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.base.known_columns import OWN
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import feature_table
from failbench.methods.healthy import band_of, changes, recalibrated
from failbench.methods.monitor_methods import EndingSettings, NoSettings
from failbench.prediction.known import Known
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import by_view, stacked
from known_runs import read_known
from recordings import read_recordings
from shared import portability as design
from shared.portability import PortabilitySettings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/portability")

STUDY = "portability"
TRAINED: Mapping[str, tuple[str, ...]] = {
    design.HOME: (design.HOME, design.FIXED, design.RECALIBRATED),
    design.HOME_ADAPTIVE: (design.HOME_ADAPTIVE, design.ADAPTIVE),
}
"""The condition that a fit is trained on, and those that it is then tested on."""


def measure(
    telemetry: st.Telemetry,
    scenarios: Iterable[st.Scenario],
    splits: pl.DataFrame,
    methods: Mapping[str, st.Record],
    settings: PortabilitySettings,
    workers: int = 1,
    known: Known | None = None,
) -> pl.DataFrame:
    """Test methods of the optimizer at home on runs of another, thresholds kept or carried over.

    A scenario that is tested, under whichever optimizer, was trained on under neither. Thresholds
    are those of the successful runs at home in every condition; what changes is the scale that
    features are read on (see :mod:`failbench.methods.healthy`).
    """
    tables, successes = condition_tables(telemetry, tuple(scenarios), settings)
    folds = st.first_repeats(splits, settings.repeats, f"{STUDY}.repeats")
    if known is not None:
        bounds = {design.HOME: OWN, design.FIXED: settings.home.name, design.RECALIBRATED: OWN}
        tables |= {name: known.beside(tables[name], of) for name, of in bounds.items()}
    # Runs are told apart by run_id alone while they are predicted.
    named = {
        condition: table.with_columns(run_id=pl.format("{}@{}", "run_id", pl.lit(condition)))
        for condition, table in tables.items()
    }
    parts = [
        nested_cv(
            stacked({condition: named[condition] for condition in tested}),
            successes,
            folds,
            method,
            method_settings,
            {st.PRIMARY_SET: FEATURE_SETS[st.PRIMARY_SET]},
            settings.seed,
            workers,
            by_view(STUDY, folds, trained, tested),
        )
        for method, method_settings in methods.items()
        for trained, tested in TRAINED.items()
        if trained == design.HOME or method not in design.ON_KNOWN
    ]
    names = pl.col("run_id").str.split("@").list
    return pl.concat(parts).with_columns(run_id=names.first(), condition=names.last())


def condition_tables(
    telemetry: st.Telemetry, scenarios: Sequence[st.Scenario], settings: PortabilitySettings
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Features of the failing runs in every condition, and of the successful runs at home.

    Taken are scenarios and seeds that were recorded in both settings.
    """
    steps = settings.own_history_steps
    home, early_home = recorded(telemetry, scenarios, settings.home, steps)
    away, early_away = recorded(telemetry, scenarios, settings.away, steps)
    healthy_home, healthy_away = (table.filter(kind="success") for table in (home, away))
    failing_home, failing_away = (table.filter(kind="failure") for table in (home, away))
    common = ["scenario", "seed"]
    tested_home = failing_home.join(failing_away, on=common, how="semi").sort("run_id")
    tested_away = failing_away.join(failing_home, on=common, how="semi").sort("run_id")
    band = band_of(healthy_home)
    changing = band_of(changes(healthy_home, early_home))
    return {
        design.HOME: tested_home,
        design.FIXED: tested_away,
        design.RECALIBRATED: recalibrated(tested_away, band_of(healthy_away), band),
        design.HOME_ADAPTIVE: recalibrated(tested_home, changing, band, early_home),
        design.ADAPTIVE: recalibrated(tested_away, changing, band, early_away),
    }, healthy_home


def recorded(
    telemetry: st.Telemetry, scenarios: Sequence[st.Scenario], setting: st.RunSetting, steps: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Features of the runs of a setting: up to their failure, and of their early history."""
    runs = setting.of(telemetry.runs).filter(pl.col("kind") != "twin")
    refuse_early_onsets(runs, scenarios, steps)
    for kind in ("failure", "success"):
        if runs.filter(kind=kind).is_empty():
            raise st.BadInputError(
                "data/telemetry/runs.parquet",
                "optimizer",
                f"there is no {kind} run of {setting.architecture} with {setting.optimizer} at "
                f"scale {setting.scale}.",
                "Name the setting in record.settings of params.yaml and run `failbench record`.",
            )
    lived = runs.filter(pl.col("failure_step") >= steps)
    last = pl.lit(steps - 1, dtype=pl.Int32)
    return (
        feature_table(telemetry, scenarios, runs.select("run_id", last_step="failure_step")),
        feature_table(telemetry, scenarios, lived.select("run_id", last_step=last)),
    )


def refuse_early_onsets(runs: pl.DataFrame, scenarios: Sequence[st.Scenario], steps: int) -> None:
    mid_run = [scenario.id for scenario in scenarios if scenario.fault.onset == "mid_run"]
    early = runs.filter(pl.col("scenario").is_in(mid_run), pl.col("onset_step") < steps)
    if early.height:
        raise st.BadInputError(
            "params.yaml",
            "portability.own_history_steps",
            f"the fault of {early['run_id'][0]!r} starts at step {early['onset_step'][0]}, within "
            f"the {steps} steps that count as its own history.",
            "Use fewer steps than the earliest onset.",
        )


def main() -> None:
    settings = st.read_section("portability", PortabilitySettings)
    methods = {
        "simple_rules": st.read_section("simple_rules", st.SimpleRulesSettings),
        "improved_rules": st.read_section("improved_rules", st.ImprovedRulesSettings),
        "logistic_regression": settings.logistic_regression,
        "random_forest": settings.random_forest,
        "invariants": NoSettings(),
        "ending": st.read_section("ending", EndingSettings),
        "forest_on_invariants": settings.random_forest,
    }
    carried = design.methods_carried(st.read_names("methods"))
    predictions = measure(
        *read_recordings(TELEMETRY, SCENARIOS),
        st.read_splits(),
        {name: methods[name] for name in carried},
        settings,
        st.workers(),
        read_known(KNOWN, carried),
    )
    for method in carried:
        st.write_parquet(predictions.filter(method=method), PREDICTIONS / f"{method}.parquet")
    counts = predictions.group_by("method", "condition").len().sort("method", "condition")
    st.print_table(("method", "condition", "predictions"), counts.rows())


if __name__ == "__main__":
    st.run(main)
