"""Refits on a few folds, as if on another processor; tests/system/test_kernels.py has the rest."""

from __future__ import annotations

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
