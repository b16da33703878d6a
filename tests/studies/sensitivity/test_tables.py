from __future__ import annotations

import polars as pl

from failbench.studies.sensitivity.tables import sensitivity_table


def test_a_row_a_choice_and_method_with_both_figures_and_their_n():
    rows = [
        (variant, method, metric, value, value - 0.1, value + 0.1, 76, 228, 2)
        for variant, method in (("faults_apart", "random_forest"), ("interactions", "ebm"))
        for metric, value in (("accuracy", 0.5), ("difference", -0.025))
    ]
    names = ("variant", "method", "metric", "value", "ci_low", "ci_high", "n", "runs", "repeats")
    table = sensitivity_table(
        pl.DataFrame(rows, schema=names, orient="row"), confidence=0.95, interactions=10
    )
    assert table.rows == (
        (
            "Folds by fault",
            "Random forest",
            "50.0 [40.0, 60.0]",
            "-2.5 [-12.5, 7.5]",
            "2",
            "228",
            "76",
        ),
        (
            "Terms of pairs of features",
            "EBM",
            "50.0 [40.0, 60.0]",
            "-2.5 [-12.5, 7.5]",
            "2",
            "228",
            "76",
        ),
    )
    assert "95 % intervals" in table.notes[0]
    assert "10 pairs" in table.notes[0]
