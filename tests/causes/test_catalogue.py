import json
from pathlib import Path

import pytest

from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import advice, cause_of_scenario, causes
from failbench.causes.support import supports
from failbench.monitor.endings import ENDINGS
from failbench.monitor.invariants import CATALOGUE

SCENARIOS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["category"]
    for path in Path("data/scenarios").glob("*/*.json")
}


def test_causes_stand_in_the_order_of_categories_and_each_has_advice():
    order = [CATEGORIES.index(cause.category) for cause in causes().values()]
    assert order == sorted(order)
    assert set(order) == set(range(len(CATEGORIES)))
    assert list(advice()) == list(causes())


def test_every_scenario_has_a_cause_of_its_category():
    mapped = cause_of_scenario()
    assert set(mapped) == set(SCENARIOS)
    for scenario, cause in mapped.items():
        assert causes()[cause].category == SCENARIOS[scenario], scenario


COMPONENTS = {
    "invariant": {invariant.id: invariant.component for invariant in CATALOGUE},
    "ending": {ending.id: ending.component for ending in ENDINGS},
}


@pytest.mark.parametrize("kind", COMPONENTS)
def test_all_that_the_monitor_says_speaks_for_causes_the_likeliest_of_its_component(kind):
    assert list(supports(kind)) == list(COMPONENTS[kind])
    for name, known in supports(kind).items():
        assert 1 <= len(set(known.causes)) == len(known.causes) <= 4, name
        assert causes()[known.causes[0]].category == COMPONENTS[kind][name], name
