from __future__ import annotations

from failbench.studies.intervals.finding import finding


def test_the_best_classifier_stands_beside_what_the_paper_reports_of_it(measured, reported):
    measured["19"]["ebm"]["accuracy"] = {"value": 0.6, "ci_low": 0.5, "ci_high": 0.7, "n": 76}
    text = finding(measured, reported, confidence=0.95)
    assert "the best classifier, EBM, names the right cause of failures of 76 scenarios" in text
    assert "60.0 [50.0, 70.0] %, where the paper reports 95.7 %" in text
    assert "simple rules, which read the error text as well, reach 59.2 [49.2, 69.2] %" in text


def test_neither_a_person_nor_a_hybrid_nor_a_baseline_of_ours_is_a_classifier(measured, reported):
    for method in ("simulated_human", "hybrid", "symptom_baseline", "improved_rules"):
        measured["19"][method]["accuracy"]["value"] = 0.99
    assert "99.0" not in finding(measured, reported, confidence=0.95)


def test_what_was_not_measured_is_not_mentioned(measured, reported):
    del measured["19"]["simple_rules"]
    assert "rules" not in finding(measured, reported, confidence=0.95)
    assert finding({}, reported, confidence=0.95) == "No classifier was measured.\n"
