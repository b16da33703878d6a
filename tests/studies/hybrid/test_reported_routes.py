from __future__ import annotations

import copy

import pytest

from failbench.errors import BadInputError
from failbench.reporting.reported import Reported
from failbench.studies.hybrid.reported_routes import HYBRIDS, reported_routes
from failbench.validation import kept_by_hand


def test_each_hybrid_has_the_shares_and_precisions_that_the_paper_gives(reported):
    routes = reported_routes(reported)
    assert tuple(routes) == HYBRIDS
    shares, precisions = routes["hybrid"]
    assert sum(shares.values()) == pytest.approx(1)
    assert set(precisions) == {"rules"}
    for shares, precisions in routes.values():
        assert all(0 < value < 1 for value in (*shares.values(), *precisions.values()))


@pytest.mark.parametrize("claim", ["hybrid_shares", "hybrid_parts", "hybrid_rules_precision"])
def test_a_claim_that_is_gone_is_named(raw_reported, claim):
    raw = copy.deepcopy(raw_reported)
    del raw["claims"][claim]
    with pytest.raises(BadInputError, match=rf"claims\.{claim}"):
        reported_routes(kept_by_hand(Reported, raw, "data/reported/paper.yaml"))
