from __future__ import annotations

from failbench.audit.claims import AuditedPaper
from failbench.audit.report import report
from failbench.validation import kept_by_hand
from made_up_audit import SETTINGS, declared

CLAIM = {
    "kind": "rate_interval",
    "value": "61.8%",
    "interval": ["56.8%", "66.7%"],
    "n": 76,
}


def test_table_points_figure_and_counts_are_of_the_same_claims():
    raw = declared(**CLAIM)
    published = report(kept_by_hand(AuditedPaper, raw, "data/reported/claims.yaml"), SETTINGS)
    points = published.points["paper_audit"]
    assert points["low"].equals(points["low"].round(6))
    (drawn,) = published.figures["paper_audit"].draw.args
    assert drawn.select(points.columns).equals(points)
    assert [row[-1] for row in published.tables[0].rows] == points["verdict"].to_list()
    assert published.metrics["all"]["claims"]["inconsistent"] == {"value": 1.0, "n": 1}
    assert published.summary[0].rows == [("inconsistent", 1)]
