import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.methods.healthy import MOVED, RATIOS, band_of, recalibrated
from failbench.methods.improved_tree import all_band_features
from made_up_telemetry import made_up_scenarios, made_up_telemetry, together
from measure_portability import condition_tables
from shared.portability import ADAPTIVE, HOME, RECALIBRATED, PortabilitySettings

SETTINGS = read_section("portability", PortabilitySettings).model_copy(
    update={"own_history_steps": 6}
)
SCENARIOS = made_up_scenarios()
TELEMETRY = together(made_up_telemetry("adamw", seeds=2), made_up_telemetry("sgd", scale=9.0))
"""Two seeds at home and one away, where gradient norms are nine times as large."""


def test_scenarios_and_seeds_of_both_settings_are_taken_and_a_change_of_scale_is_undone():
    tables, *_ = condition_tables(TELEMETRY, SCENARIOS, SETTINGS)
    assert {name: table.height for name, table in tables.items()} == dict.fromkeys(tables, 20)
    assert {tuple(sorted(set(table["seed"]))) for table in tables.values()} == {(0,)}
    for condition, home in ((RECALIBRATED, HOME), (ADAPTIVE, "home_adaptive")):
        for name in ("max_gradient_norm", "mean_gradient_norm", "gradient_norm_variance"):
            expected = tables[home][name].to_numpy()
            assert tables[condition][name].to_numpy() == pytest.approx(expected, rel=1e-4)
    lacking = TELEMETRY.select((pl.col("optimizer") == "adamw") | (pl.col("kind") != "success"))
    with pytest.raises(BadInputError, match="no success run of transformer with sgd"):
        condition_tables(lacking, SCENARIOS, SETTINGS)
    late = SETTINGS.model_copy(update={"own_history_steps": 9})
    with pytest.raises(BadInputError, match="starts at step 8, within the 9 steps"):
        condition_tables(TELEMETRY, SCENARIOS, late)


def test_recalibrating_undoes_a_change_of_scale_of_every_feature_with_a_threshold(successes):
    home = successes.with_columns(pl.col(name).abs() + 1.0 for name in RATIOS)
    assert set(all_band_features()) <= set(MOVED)
    away = home.with_columns(pl.col(name) * 7 + 3 for name in MOVED)
    moved = recalibrated(away, band_of(away), band_of(home))
    for name in MOVED:
        assert moved[name].to_numpy() == pytest.approx(home[name].to_numpy())
    assert moved.drop(MOVED).equals(home.drop(MOVED))
