from __future__ import annotations

import pytest

from failbench.errors import BadInputError
from failbench.studies.ablation.interactions_table import reported_surplus


def test_the_reported_surplus_is_that_of_the_papers_table(reported):
    surplus = {row.baseline: row for row in reported_surplus(reported, 0.95)}
    assert surplus["nothing"].value == pytest.approx(0.474 - 0.263 - 0.250)
    assert surplus["majority"].baseline_value == pytest.approx(20 / 76)
    assert {row.n for row in surplus.values()} == {76}


def test_a_missing_count_of_scenarios_is_refused(reported):
    claims = {name: value for name, value in reported.claims.items() if name != "scenarios"}
    with pytest.raises(BadInputError, match="scenarios"):
        reported_surplus(reported.model_copy(update={"claims": claims}), 0.95)
