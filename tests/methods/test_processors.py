"""Refits on a few folds, as if on another processor; tests/system/test_kernels.py has the rest."""

from __future__ import annotations

import polars as pl
import pytest
from processors import NATIVE, OLDEST, CannotExecuteError, differences, refitted


@pytest.mark.system
def test_predictions_are_those_of_another_processor(tmp_path):
    folders = [tmp_path / name for name in ("native", "oldest")]
    for folder in folders:
        folder.mkdir()
    try:
        native, oldest = (
            refitted(processor, "few", folder)
            for processor, folder in zip((NATIVE, OLDEST), folders, strict=True)
        )
    except CannotExecuteError as error:
        pytest.skip(str(error))
    assert differences(oldest, native) == {}


def rows(**changes: object) -> pl.DataFrame:
    key = {"study": "pooled", "feature_set": "19", "method": "ebm", "repeat": 0, "fold": 0}
    run = {"run_id": "a", "prediction": "unknown", "reason": None, "p_unknown": 0.4}
    return pl.DataFrame([{**key, **run, **changes}])


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"p_unknown": 0.400001}, {}),
        ({"p_unknown": 0.400002}, {"numbers": 1}),
        ({"prediction": "optimization"}, {"prediction": 1}),
    ],
)
def test_a_comparison_forgives_one_in_the_last_digit_and_no_more(changes, differing):
    assert differences(rows(**changes), rows()) == differing


def test_a_comparison_notices_that_rows_are_missing():
    assert differences(rows().clear(), rows()) == {"rows": 1}
