"""Curves of runs over those of their twins, and the panels that are drawn from them."""

from __future__ import annotations

import dataclasses
import math

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.study.run_curves import (
    gallery_picture,
    run_curves,
    sheet_curves,
    sheet_runs,
)
from printed_pictures import assert_printable

RUNAWAY = "runaway-transformer-adamw-s0"


def test_run_curves_give_units_that_the_figure_states(small_telemetry):
    step_5 = run_curves(small_telemetry, RUNAWAY).row(
        by_predicate=(pl.col("role") == "failing") & (pl.col("step") == 5), named=True
    )
    assert step_5["memory"] == pytest.approx(105 / 200)
    assert step_5["tokens_per_second"] == pytest.approx(50 / 0.5)
    assert step_5["perplexity"] == pytest.approx(math.exp(2.0), rel=1e-4)


def test_curves_of_a_run_that_was_not_recorded_name_the_run(small_telemetry):
    with pytest.raises(BadInputError, match="'nobody'"):
        run_curves(small_telemetry, "nobody")
    with pytest.raises(BadInputError, match="run_id"):
        run_curves(small_telemetry, f"{RUNAWAY}-twin")


def test_sheet_curves_keep_every_third_step_and_the_last_of_each_run(small_telemetry):
    curves = sheet_curves(small_telemetry, 3)
    kept = {
        key: group["step"].to_list()
        for key, group in curves.group_by("scenario", "role", maintain_order=True)
    }
    assert kept["runaway", "failing"] == [0, 3, 6, 9]
    assert kept["late_crash", "failing"] == [0, 3, 6, 7]
    assert ("no_start", "failing") not in kept
    assert kept["no_start", "twin"] == [0, 3, 6, 9]


def test_a_run_of_an_unknown_scenario_is_named(small_telemetry, small_scenarios):
    foreign = dataclasses.replace(
        small_telemetry,
        runs=small_telemetry.runs.with_columns(
            scenario=pl.col("scenario").replace("runaway", "foreign")
        ),
    )
    with pytest.raises(BadInputError, match="'foreign', which does not exist"):
        sheet_runs(foreign, small_scenarios)


pytestmark = pytest.mark.usefixtures("project_style")


def sheet(telemetry, scenarios, category, curves=None):
    return gallery_picture(
        category,
        sheet_runs(telemetry, scenarios),
        sheet_curves(telemetry, 1) if curves is None else curves,
        setting="all runs",
    )


def cell(telemetry, scenarios, category, curves=None):
    """The figure of a sheet that has one run, and the axes of its loss."""
    figure = assert_printable(sheet(telemetry, scenarios, category, curves))
    loss_axes, _ = sorted(figure.axes, key=lambda axes: -axes.get_position().y0)
    return figure, loss_axes


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("memory_hardware", "late crash"),
        ("optimization", "runaway"),
        ("model_software", "no start"),
    ],
)
def test_gallery_has_a_cell_for_every_failing_run_even_one_without_steps(
    small_telemetry, small_scenarios, category, name
):
    _, loss_axes = cell(small_telemetry, small_scenarios, category)
    assert loss_axes.get_title(loc="left") == name
