from __future__ import annotations

from dataclasses import replace

import pytest

from failbench.errors import BadInputError
from failbench.studies.controls.measure import require_categories
from made_up_controls import table_of


def test_a_control_without_a_category_is_refused_because_chance_would_differ():
    whole = table_of(signal=0.0)
    require_categories({"twins": whole})
    four = replace(whole, categories=tuple("data_pipeline" for _ in whole.categories))
    with pytest.raises(BadInputError, match=r"controls: twins: has no scenario of memory_hardware"):
        require_categories({"twins": four})
