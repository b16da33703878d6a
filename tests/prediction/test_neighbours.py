import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.predictions import NEIGHBOUR_SCHEMA
from failbench.prediction.neighbours import nearest_scenarios
from made_up_scenarios import made_up_scenarios, reference_runs

COLUMNS = ["max_loss", "mean_loss"]


@pytest.fixture(scope="module")
def runs():
    """Two runs of each of ten scenarios; a few have no loss."""
    rng = np.random.default_rng(2)
    first = reference_runs(made_up_scenarios(2))
    run_id = pl.format("{}-again", "run_id")
    both = pl.concat([first, first.with_columns(run_id=run_id, max_loss=pl.col("max_loss") + 1)])
    noise = pl.Series(rng.normal(size=both.height))
    return both.with_columns(
        pl.when(noise < 1).then("max_loss").alias("max_loss"), mean_loss=pl.col("mean_loss") + noise
    )


@pytest.mark.parametrize("labelled", [False, True])
def test_neighbours_are_those_whose_runs_are_nearest_on_average(runs, labelled):
    """Whatever the units, missing values being medians; where labels are asked for, no unknown."""
    scaled = []
    for name in COLUMNS:
        values = runs[name].fill_null(runs[name].median()).to_numpy()
        scaled.append((values - values.mean()) / values.std())
    points = dict(zip(runs["run_id"], np.transpose(scaled), strict=True))
    of = {each: part["run_id"] for (each,), part in runs.group_by("scenario")}
    expected = []
    for one in sorted(of):
        apart = {
            other: np.mean([np.linalg.norm(points[a] - points[b]) for a in of[one] for b in mine])
            for other, mine in of.items()
            if other != one and not (labelled and other.startswith("unknown"))
        }
        expected += [(one, other, apart[other]) for other in sorted(apart, key=apart.get)[:3]]
    in_other_units = runs.with_columns(pl.col("max_loss") * 1e4 + 5)
    for table in (runs, in_other_units):
        found = nearest_scenarios(table, COLUMNS, 3, labelled=labelled)
        assert found.schema == NEIGHBOUR_SCHEMA
        assert found.select("scenario", "neighbour").rows() == [row[:2] for row in expected]
        assert found["distance"].to_list() == pytest.approx([row[2] for row in expected])
        category = found["neighbour"].str.replace(r"_\d$", "")
        assert found["neighbour_category"].equals(category, check_names=False)


@pytest.mark.parametrize(
    ("count", "labelled", "problem"),
    [(10, False, "too few for 10 neighbours"), (8, True, "there are 8 scenarios to be near to")],
)
def test_more_neighbours_than_there_are_others_are_refused(runs, count, labelled, problem):
    with pytest.raises(BadInputError, match=problem):
        nearest_scenarios(runs, COLUMNS, count, labelled=labelled)
