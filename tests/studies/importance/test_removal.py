from __future__ import annotations

import pytest

from failbench.studies.importance.removal import removal
from made_up_importance import ablation_predictions


def test_a_removal_is_the_accuracy_without_the_error_text_less_that_with_all_signals():
    removed = removal(ablation_predictions())
    assert removed.change == pytest.approx(2 / 4 - 3 / 4)
    assert removed.repeats == ablation_predictions()["repeat"].n_unique()
