"""What invariants and endings speak for, against the monitor's own catalogues."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from failbench.causes import support
from failbench.causes.catalogue import advice, causes
from failbench.causes.support import support_of_ending, support_of_invariant, supports
from failbench.monitor.endings import ENDINGS
from failbench.monitor.invariants import CATALOGUE

COMPONENTS = {
    "invariant": {invariant.id: invariant.component for invariant in CATALOGUE},
    "ending": {ending.id: ending.component for ending in ENDINGS},
}
FOLDER = Path(support.__file__).parent / "data"


@pytest.mark.parametrize("kind", ["invariant", "ending"])
def test_everything_that_the_monitor_says_speaks_for_causes(kind):
    with (FOLDER / f"{kind}s.csv").open(encoding="utf-8", newline="") as file:
        named = [row[kind] for row in csv.DictReader(file)]
    assert named == list(COMPONENTS[kind])
    assert list(supports(kind)) == named


@pytest.mark.parametrize("kind", ["invariant", "ending"])
def test_causes_are_known_and_each_is_named_once(kind):
    for name, known in supports(kind).items():
        assert 1 <= len(known.causes) <= 4, name
        assert len(set(known.causes)) == len(known.causes), name
        assert set(known.causes) <= set(causes()), name


@pytest.mark.parametrize("kind", ["invariant", "ending"])
def test_the_likeliest_cause_is_of_the_component(kind):
    for name, known in supports(kind).items():
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
    speaks = [name in support_of_invariant(invariant).causes for name, invariant in named]
    assert sum(speaks) > len(speaks) / 2


def test_what_is_not_known_speaks_for_nothing():
    assert support_of_invariant("the_moon_is_full") is None
    assert support_of_ending("token_ids_known") is None
