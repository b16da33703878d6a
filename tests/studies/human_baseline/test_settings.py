from __future__ import annotations

import pytest
from pydantic import ValidationError

from failbench.studies.human_baseline.settings import HumanBaselineSettings
from made_up_people import SETTINGS


@pytest.mark.parametrize("values", [{"couplings": ()}, {"studies": 10}, {"folds": 0}, {"panel": 0}])
def test_settings_without_a_study_to_simulate_are_refused(values):
    with pytest.raises(ValidationError):
        HumanBaselineSettings.model_validate(SETTINGS.model_dump() | values)
