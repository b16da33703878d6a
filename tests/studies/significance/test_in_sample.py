"""In-sample contrasts: a difference and an interval, and nothing that looks like a test."""

from __future__ import annotations

from failbench.reporting.captions import DEVELOPMENT_NOTE
from failbench.reporting.cells import ABSENT
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.significance.report import report

SETTINGS = SignificanceSettings(
    feature_set="19",
    contrasts=(("random_forest", "simple_rules"),),
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.10,
    power=0.80,
    seed=0,
)


def test_no_test_is_made_of_rules_that_were_made_in_view(answers):
    alone = (("random_forest", "simple_rules"),)
    rates = {"invariants": 0.8, "random_forest": 0.6, "simple_rules": 0.4}
    predictions = answers(rates, feature_set=SETTINGS.feature_set)
    of_both = SETTINGS.model_copy(update={"contrasts": (*alone, ("invariants", "random_forest"))})
    made, without = (report(predictions, settings) for settings in (of_both, SETTINGS))
    assert made.metrics["contrasts"] == without.metrics["contrasts"]
    (development,) = made.metrics["development"].values()
    assert set(development) == {"difference"}
    (table,) = made.tables
    cells = dict(zip([column.heading for column in table.columns], table.rows[1], strict=True))
    assert cells["Difference"] != ABSENT
    assert {cells[name] for name in cells if name.startswith("p") or name == "t"} == {ABSENT}
    assert DEVELOPMENT_NOTE in table.notes
    points = made.points["significance"].filter(left="invariants")
    assert points["difference"].null_count() == points["p"].count() == 0
    _, sentence = made.sentences["contrast_sentences"].splitlines()
    assert "p =" not in sentence
    assert "development" in sentence
