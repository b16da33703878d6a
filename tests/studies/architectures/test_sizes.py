from __future__ import annotations

import polars as pl

from failbench.studies.architectures.results import rate_row
from failbench.studies.architectures.sizes import SIZE, with_sizes

FEATURES = pl.DataFrame(
    {
        "run_id": ["a", "b", "c", "not_asked"],
        "architecture": ["gru", "gru", "gru", "gru"],
        "parameter_count": [10.0, 20.0, 60.0, 900.0],
    }
)
FAMILY = {"study": "s", "method": "m", "thresholds": "t", "noise": 0.0, "architecture": "gru"}


def test_a_size_is_the_median_of_the_runs_that_count_with_the_smallest_and_the_largest():
    row = rate_row({**FAMILY, "metric": "accuracy"}, (0.5, 0.4, 0.6), 3, "scenario", 3, "Wilson")
    rates = pl.DataFrame([row], schema_overrides={"p": pl.Float64, "p_equivalence": pl.Float64})
    table = with_sizes(rates, FEATURES, pl.DataFrame({"run_id": ["a", "b", "c", "c"]}))
    assert table.head(1).equals(rates)
    size = table.row(1, named=True)
    assert (size["metric"], size["architecture"], size["n"]) == (SIZE, "gru", 3)
    assert (size["value"], size["ci_low"], size["ci_high"]) == (20.0, 10.0, 60.0)
