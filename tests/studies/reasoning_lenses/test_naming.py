"""Naming of conditions on made-up numbers: nothing of a held-out seed is learnt from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from failbench.studies.reasoning_lenses.naming import (
    Asked,
    NearestMean,
    from_healthy,
    named,
    told_apart,
)

CONDITIONS = ("healthy", "broken", "slow")


def asked_of(tokenizers=("char", "bpe"), seeds=3):
    rows = [
        (condition, tokenizer, seed)
        for condition in CONDITIONS
        for tokenizer in tokenizers
        for seed in range(seeds)
    ]
    condition, tokenizer, seed = map(np.array, zip(*rows, strict=True))
    return Asked(condition, tokenizer, seed, condition == "healthy")


def numbers_of(asked, *, effect, noise=0.1, width=6):
    """Numbers that differ by condition by an effect, and by tokenizer by far more."""
    rng = np.random.default_rng(0)
    shift = np.select([asked.condition == "broken", asked.condition == "slow"], [effect, -effect])
    base = 100.0 * (asked.tokenizer == "bpe")
    return base[:, None] + shift[:, None] + noise * rng.standard_normal((len(shift), width))


def test_conditions_that_differ_are_named_whatever_the_tokenizer():
    asked = asked_of()
    answers = named(numbers_of(asked, effect=1.0), asked, NearestMean)
    assert (answers == asked.condition).all()


def test_without_an_effect_naming_is_near_chance():
    asked = asked_of(seeds=30)
    answers = named(numbers_of(asked, effect=0.0), asked, NearestMean)
    assert 0.2 < (answers == asked.condition).mean() < 0.47


def test_what_was_done_to_a_held_out_model_is_not_read():
    asked = asked_of()
    numbers = numbers_of(asked, effect=0.2)
    swapped = asked.condition.copy()
    swapped[(asked.seed == 0) & (asked.condition == "broken")] = "slow"
    swapped[(asked.seed == 0) & (asked.condition == "slow")] = "broken"
    other = Asked(swapped, asked.tokenizer, asked.seed, asked.healthy)
    answers, again = (named(numbers, each, NearestMean) for each in (asked, other))
    assert (answers[asked.seed == 0] == again[asked.seed == 0]).all()


def test_pairs_are_told_apart_where_they_differ_and_not_where_nothing_does():
    asked = asked_of(tokenizers=("char",))
    numbers = numbers_of(asked, effect=1.0)
    counts = told_apart(numbers, asked, NearestMean)
    assert set(counts.values()) == {6}
    same = told_apart(np.ones_like(numbers), asked, NearestMean)
    assert set(same.values()) == {0}


def test_the_nearest_mean_answers_as_scikit_learns():
    rng = np.random.default_rng(0)
    numbers, classes = rng.standard_normal((40, 5)), rng.choice(["a", "b", "c"], 40)
    theirs = make_pipeline(StandardScaler(), NearestCentroid()).fit(numbers, classes)
    new = rng.standard_normal((60, 5))
    assert (NearestMean().fit(numbers, classes).predict(new) == theirs.predict(new)).all()


@pytest.mark.parametrize("tokenizers", [("char",), ("char", "bpe")])
def test_healthy_models_of_the_tokenizer_are_the_zero(tokenizers):
    asked = asked_of(tokenizers=tokenizers)
    differences = from_healthy(numbers_of(asked, effect=1.0, noise=0.0), asked, asked.seed != 0)
    assert np.abs(differences[asked.healthy]).max() == 0
    assert np.abs(differences[~asked.healthy]).min() == 1
