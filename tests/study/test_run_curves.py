import math

import pytest

from failbench.base.errors import BadInputError
from failbench.study.run_curves import gallery_picture, run_curves, sheet_curves, sheet_runs
from gallery import run_of
from printed_pictures import assert_printable

RUNAWAY = "runaway-transformer-adamw-s0"


def test_run_curves_give_units_that_the_figure_states_of_failing_runs(small_telemetry):
    curves = run_curves(small_telemetry, RUNAWAY).filter(role="failing", step=5)
    (step_5,) = curves.select("memory", "tokens_per_second", "perplexity").rows()
    assert step_5 == pytest.approx((105 / 200, 50 / 0.5, math.exp(2.0)), rel=1e-4)
    for unknown, named in (("nobody", "'nobody'"), (f"{RUNAWAY}-twin", "run_id")):
        with pytest.raises(BadInputError, match=named):
            run_curves(small_telemetry, unknown)
    with pytest.raises(BadInputError, match=r"gallery\.run_id.*no failing run"):
        run_of(small_telemetry, f"{RUNAWAY}-twin")


@pytest.mark.usefixtures("project_style")
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
    runs, curves = sheet_runs(small_telemetry, small_scenarios), sheet_curves(small_telemetry, 1)
    figure = assert_printable(gallery_picture(category, runs, curves, setting="all runs"))
    loss_axes, _ = sorted(figure.axes, key=lambda axes: -axes.get_position().y0)
    assert loss_axes.get_title(loc="left") == name
