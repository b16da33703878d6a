from __future__ import annotations

from failbench.studies.intervals.finding import finding


def test_neither_a_person_nor_a_hybrid_nor_a_baseline_of_ours_is_a_classifier(measured, reported):
    for method in ("simulated_human", "hybrid", "symptom_baseline", "improved_rules"):
        measured["19"][method]["accuracy"]["value"] = 0.99
    assert "99.0" not in finding(measured, reported, confidence=0.95)


def test_what_was_not_measured_is_not_mentioned(measured, reported):
    del measured["19"]["simple_rules"]
    assert "rules" not in finding(measured, reported, confidence=0.95)
    assert finding({}, reported, confidence=0.95) == "No classifier was measured.\n"
