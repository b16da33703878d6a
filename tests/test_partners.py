from __future__ import annotations

import polars as pl

from failbench.base.slices import partners


def failing(*rows: tuple[str, str, str, str | None, str | None]) -> pl.DataFrame:
    columns = ("scenario", "category", "outcome", "error_type", "exit_signal")
    return pl.DataFrame(list(rows), schema=dict.fromkeys(columns, pl.String), orient="row")


def test_partners_share_outcome_presence_of_an_error_and_signal_and_are_labelled():
    actual = partners(
        failing(
            ("mystery", "unknown", "killed", None, "SIGKILL"),
            ("other_mystery", "unknown", "killed", None, "SIGKILL"),
            ("same", "data_pipeline", "killed", None, "SIGKILL"),
            ("other_outcome", "data_pipeline", "hung", None, "SIGKILL"),
            ("with_error", "data_pipeline", "killed", "KeyError", "SIGKILL"),
            ("without_signal", "memory_hardware", "killed", None, None),
        )
    )
    assert actual.rows() == [
        ("mystery", "same", "data_pipeline"),
        ("other_mystery", "same", "data_pipeline"),
    ]


def test_no_signal_is_like_no_signal_and_any_error_like_any_other():
    actual = partners(
        failing(
            ("mystery", "unknown", "crash", "KeyError", None),
            ("same", "model_software", "crash", "RuntimeError", None),
        )
    )
    assert actual.rows() == [("mystery", "same", "model_software")]
