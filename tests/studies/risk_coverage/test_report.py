from __future__ import annotations

import pytest

from failbench.studies.risk_coverage.report import reported_points


def test_the_papers_rules_are_where_they_answer_all_and_where_they_commit(reported):
    points = reported_points(reported)
    committed, all_of_them = points["improved_rules"]
    assert (committed.coverage, committed.risk) == pytest.approx((0.697, 0.113))
    assert (all_of_them.coverage, all_of_them.risk) == pytest.approx((1, 0.382))
    assert points["hybrid_two_way"][0].risk == pytest.approx(0.13)
