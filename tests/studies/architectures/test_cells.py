from __future__ import annotations

import polars as pl
import pytest

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.studies.architectures.cells import (
    architectures_in,
    estimate,
    rate_cell,
    reported_accuracy,
    spread,
    threshold_label,
    values_of,
)
from failbench.studies.architectures.measure import THRESHOLDS
from failbench.studies.architectures.results import ArchitecturesSettings

SETTINGS = ArchitecturesSettings(
    noise=(0.05,), noisy_logs=2, percentile=0.98, equivalence_margin=0.1, power=0.8, seed=0
)
RULES = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
TABLE = pl.DataFrame(
    {
        "architecture": ["t5", "gru"],
        "metric": ["accuracy", "accuracy"],
        "noise": [0.0, 0.0],
        "value": [0.5, 0.25],
        "ci_low": [0.4, 0.2],
        "ci_high": [0.6, 0.3],
    }
)


def test_every_kind_of_threshold_has_a_name_of_its_own_that_says_its_setting():
    labels = [threshold_label(kind, SETTINGS, RULES) for kind in THRESHOLDS]
    assert len(set(labels)) == len(labels)
    assert all("3 sd" in label or "98" in label for label in labels)


def test_a_rate_has_its_interval_and_one_that_was_not_measured_is_a_dash():
    assert rate_cell(TABLE.head(1), "accuracy", 0.0) == "50.0 [40.0, 60.0]"
    assert rate_cell(TABLE, "macro_f1", 0.0) == "–"
    assert estimate(TABLE.head(1), "accuracy", 0.0)["value"] == 0.5


@pytest.mark.parametrize(("values", "cell"), [([0.5, 0.25], "25.0"), ([], "–")])
def test_a_spread_is_the_highest_less_the_lowest(values, cell):
    assert spread(values) == cell


def test_architectures_are_those_of_the_table_and_so_are_values():
    assert set(architectures_in(TABLE)) == {"t5", "gru"}
    assert values_of(TABLE, "accuracy", 0.0) == [0.5, 0.25]


def test_what_the_paper_has_not_is_a_dash(reported):
    assert reported_accuracy(None) == "–"
    assert "[" in reported_accuracy(reported.tables.architectures.rows["t5"])
