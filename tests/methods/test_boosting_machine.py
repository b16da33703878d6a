"""Bags over whole scenarios, and the machine that is boosted in them."""

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier

from failbench.methods.boosting_machine import TRAINED, VALIDATED, group_bags
from failbench.methods.catalogue import method_named


def test_a_scenario_stays_together_validated_on_in_one_bag_and_trained_on_in_the_others(runs):
    _, labels, groups = runs
    bags = group_bags(labels, groups, 4, seed=0)
    for scenario in np.unique(groups):
        assert len(np.unique(bags[groups == scenario], axis=0)) == 1
    assert (bags == VALIDATED).sum(axis=1).tolist() == [1] * 60
    assert (bags == TRAINED).sum(axis=1).tolist() == [3] * 60


def test_scenarios_stay_together_in_the_bags_of_every_fit_of_the_search(
    context, runs, settings_of, monkeypatch
):
    received = []
    fit = ExplainableBoostingClassifier.fit

    def watched(self, *arguments, **named):
        received.append(named["bags"])
        return fit(self, *arguments, **named)

    monkeypatch.setattr(ExplainableBoostingClassifier, "fit", watched)
    frame, labels, groups = runs
    settings = settings_of("ebm").model_copy(update={"learning_rate": (0.02, 0.08)})
    method_named("ebm").build(settings, context).fit(frame, labels, groups)
    assert [len(bags) for bags in received] == [30, 30, 30, 30, 60]
    for bags in received:
        # The made-up runs of a scenario stand next to one another, and folds keep their order.
        assert (bags[0::2] == bags[1::2]).all()


def test_a_category_of_a_single_scenario_is_trained_on_in_every_bag():
    labels = np.array(["a"] * 2 + ["b"] * 8, dtype=object)
    groups = np.array(["x"] * 2 + [f"y{index // 2}" for index in range(8)])
    marks = group_bags(labels, groups, 4, 0)
    assert (marks[:2] == TRAINED).all()
    assert ((marks[2:] == VALIDATED).sum(axis=1) == 1).all()
