"""What invariants and endings speak for, against the monitor's own catalogues."""

import pytest

from failbench.causes.catalogue import advice, causes
from failbench.causes.support import supports
from failbench.monitor.endings import ENDINGS
from failbench.monitor.invariants import CATALOGUE

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


def test_logic_is_mostly_direct_and_symptoms_never():
    direct = {name for name, known in supports("invariant").items() if known.strength == "direct"}
    kinds = {
        kind: [invariant.id for invariant in CATALOGUE if invariant.kind == kind]
        for kind in ("logic", "statistic", "symptom")
    }
    assert len(direct & set(kinds["logic"])) > 0.8 * len(kinds["logic"])
    assert len(direct & set(kinds["statistic"])) < 0.3 * len(kinds["statistic"])
    assert not direct & set(kinds["symptom"])


def test_most_that_would_settle_a_cause_speaks_for_it():
    named = [
        (name, invariant)
        for name, known in advice().items()
        for measurement in known.settle
        for invariant in measurement.invariants
    ]
    speaks = [name in supports("invariant")[invariant].causes for name, invariant in named]
    assert sum(speaks) > len(speaks) / 2
