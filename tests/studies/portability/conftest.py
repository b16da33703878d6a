"""Runs of two optimizers, and what simple rules answer of them."""

from __future__ import annotations

import pytest

from failbench.features.feature_table import categories_of
from failbench.methods.monitor_methods import NoSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.splits import make_splits
from failbench.studies.portability.measure import measure
from made_up_known import made_up_known
from made_up_portability import portability_settings, two_optimizers
from made_up_telemetry import made_up_scenarios

RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)


@pytest.fixture(scope="session")
def telemetry():
    return two_optimizers()


@pytest.fixture(scope="session")
def predictions(telemetry):
    splits = make_splits(categories_of(made_up_scenarios()), folds=2, repeats=1, seed=0)
    return measure(
        telemetry,
        made_up_scenarios(),
        splits,
        {"simple_rules": RULES},
        portability_settings(),
    )


@pytest.fixture(scope="session")
def of_monitor(telemetry):
    """What methods on what the monitor knows predict; bounds of AdamW are lent to SGD."""
    labelled = telemetry.runs.join(categories_of(made_up_scenarios()), on="scenario", how="left")
    settings = portability_settings()
    known = made_up_known(
        labelled.filter(kind="failure"), ("transformer-adamw",), ("transformer-adamw",)
    )
    return measure(
        telemetry,
        made_up_scenarios(),
        make_splits(categories_of(made_up_scenarios()), folds=2, repeats=1, seed=0),
        {"invariants": NoSettings(), "forest_on_invariants": settings.random_forest},
        settings,
        known=known,
    )
