"""Rules and joint hypotheses as data: they cover every case and know their numbers."""

import itertools
import math

import numpy as np
import pytest

from failbench.neighbours.lenses.catalogue import (
    LENSES,
    Measure,
    measure_kinds,
    rules,
    syntheses,
    synthesis_of,
    verdict_of,
)


def measures(lens, value):
    return {
        name: Measure(kind, value, value, value, 1, np.array([value]))
        for name, kind in measure_kinds()[lens].items()
    }


@pytest.mark.parametrize("lens", LENSES)
def test_rules_cover_every_case_with_numbers_that_the_lens_emits(lens):
    assert rules()[lens][-1].conditions == ()
    assert verdict_of(lens, measures(lens, math.nan)).verdict == "undetermined"
    known = {rule.verdict for rule in rules()[lens]}
    for value in (-2.0, -1.0, 0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 1.25, 3.0):
        assert verdict_of(lens, measures(lens, value)).verdict in known
    read = {condition.measure for rule in rules()[lens] for condition in rule.conditions}
    assert read <= set(measure_kinds()[lens])
    for synthesis in syntheses():
        assert set(getattr(synthesis, lens)) <= known


def test_every_combination_of_verdicts_has_a_hypothesis():
    known = [dict.fromkeys(rule.verdict for rule in rules()[lens]) for lens in LENSES]
    named = {
        synthesis_of(dict(zip(LENSES, verdicts, strict=True))).id
        for verdicts in itertools.product(*known)
    }
    assert named == {synthesis.id for synthesis in syntheses()}
