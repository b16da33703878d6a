import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.predictions import NEIGHBOUR_SCHEMA
from failbench.prediction.neighbours import nearest_scenarios
from made_up_scenarios import made_up_scenarios, reference_runs


@pytest.fixture
def runs() -> pl.DataFrame:
    return reference_runs(made_up_scenarios(2))


def placed(runs: pl.DataFrame, **positions: float | None) -> pl.DataFrame:
    """Runs at these places on one axis, all others far away from them and from each other."""
    far = 1000.0 + 100.0 * pl.int_range(pl.len())
    moved = far
    for scenario, position in positions.items():
        moved = pl.when(pl.col("scenario") == scenario).then(position).otherwise(moved)
    return runs.with_columns(max_loss=moved.cast(pl.Float64))


def nearest(neighbours: pl.DataFrame, scenario: str) -> list[str]:
    return neighbours.filter(scenario=scenario)["neighbour"].to_list()


def test_neighbours_come_in_the_order_of_distance_and_are_never_the_scenario_itself(runs):
    table = placed(runs, unknown_0=0.0, optimization_1=2.0, data_pipeline_0=-1.0)
    neighbours = nearest_scenarios(table, ["max_loss"], 2)
    assert neighbours.schema == NEIGHBOUR_SCHEMA
    found = neighbours.filter(scenario="unknown_0")
    assert found.select("neighbour", "neighbour_category").rows() == [
        ("data_pipeline_0", "data_pipeline"),
        ("optimization_1", "optimization"),
    ]
    near, further = found["distance"]
    assert further == pytest.approx(2 * near)
    assert neighbours.filter(pl.col("scenario") == pl.col("neighbour")).is_empty()


def test_distances_do_not_depend_on_the_unit_of_a_feature(runs):
    columns = ["max_loss", "mean_loss"]
    neighbours = nearest_scenarios(runs, columns, 3)
    in_other_units = runs.with_columns(pl.col("max_loss") * 1e4 + 5)
    again = nearest_scenarios(in_other_units, columns, 3)
    assert again.drop("distance").equals(neighbours.drop("distance"))
    assert again["distance"].to_list() == pytest.approx(neighbours["distance"].to_list())


def test_an_unknown_scenario_is_no_neighbour_where_known_causes_are_asked_for(runs):
    table = placed(runs, unknown_0=0.0, unknown_1=0.1, optimization_1=2.0)
    assert nearest(nearest_scenarios(table, ["max_loss"], 1), "unknown_0") == ["unknown_1"]
    neighbours = nearest_scenarios(table, ["max_loss"], 1, labelled=True)
    assert nearest(neighbours, "unknown_0") == ["optimization_1"]
    assert "unknown" not in set(neighbours["neighbour_category"])


def test_two_scenarios_are_as_far_apart_as_their_runs_are_on_average(runs):
    near = {"unknown_0": 0.0, "data_pipeline_0": -4.0}
    first, second = (placed(runs, **near, optimization_1=place) for place in (3.0, 9.0))
    again = second.with_columns(run_id=pl.format("{}-again", "run_id"))
    alone = nearest_scenarios(first, ["max_loss"], 2)
    assert nearest(alone, "unknown_0") == ["optimization_1", "data_pipeline_0"]
    both = nearest_scenarios(pl.concat([first, again]), ["max_loss"], 2)
    # (3 + 9) / 2 is further than 4
    assert nearest(both, "unknown_0") == ["data_pipeline_0", "optimization_1"]
    near, further = both.filter(scenario="unknown_0")["distance"]
    assert further == pytest.approx(1.5 * near)


@pytest.mark.parametrize(
    ("count", "labelled", "problem"),
    [(10, False, "too few for 10 neighbours"), (8, True, "there are 8 scenarios to be near to")],
)
def test_more_neighbours_than_there_are_others_are_refused(runs, count, labelled, problem):
    with pytest.raises(BadInputError, match=problem):
        nearest_scenarios(runs, ["max_loss"], count, labelled=labelled)
