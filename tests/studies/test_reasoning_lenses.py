"""The study on made-up models with planted conditions, and naming on made-up numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from failbench.base.errors import BadInputError
from failbench.neighbours.lenses.catalogue import Expected, read_expected, verdicts_given
from failbench.neighbours.lenses.looking import look_at_models, verdict_table
from failbench.neighbours.lenses.naming import NearestMean, Origins, from_healthy, named, told_apart
from made_up_traces import made_up_study
from reasoning_lenses import (
    Pictured,
    ReasoningLensesSettings,
    as_expected,
    check_traces,
    naming,
    pictured_looks,
)

CONDITIONS = ("healthy", "broken", "slow")
SETTINGS = ReasoningLensesSettings(
    answer_resamples=100,
    healthy="healthy",
    trees=10,
    pictured=Pictured(task="arithmetic", seed=0, tokenizer="char", conditions=("short", "loops")),
    confidence=0.95,
    seed=0,
)
EXPECTED = tuple(
    Expected(condition=condition, lens=lens, verdicts=verdicts, telling=telling, why="planted so")
    for condition, lens, verdicts, telling in (
        ("healthy", "surface", "cliff gradual_decline", False),
        ("short", "surface", "cliff", True),
        ("loops", "compression", "loop", True),
        ("dull", "surface", "collapse chaotic", True),
    )
)
HEADER = "condition,lens,verdicts,telling,why\n"


@pytest.fixture(scope="module")
def traces():
    return made_up_study(tasks=("arithmetic",), items=8)


@pytest.fixture(scope="module")
def looks(traces):
    return look_at_models(traces, SETTINGS.resampling)


def models_of(looks):
    keys = ("model", "condition", "seed", "tokenizer")
    return verdict_table(looks).select(keys).unique(maintain_order=True)


def test_planted_conditions_are_named_by_the_lens_that_can_see_them(looks):
    rates, names, _ = naming(looks, models_of(looks), SETTINGS)
    rates = rates.filter(classifier="nearest_centroid")
    by_lenses = {row["lenses"]: row for row in rates.to_dicts()}
    assert by_lenses["all"]["value"] > 0.9
    assert by_lenses["surface"]["value"] > 0.9
    assert by_lenses["all"]["n"] == 15
    # prompts tell nothing of what was done: the most frequent condition is named
    assert by_lenses["fft"]["value"] == 6 / 15
    assert set(names.filter(lenses="fft")["named"]) == {"healthy"}


def test_expected_verdicts_are_scored_against_what_was_given(looks):
    given = verdicts_given(verdict_table(looks), EXPECTED, "healthy")
    rates = as_expected(given, models_of(looks), 0.95)
    assert rates["compression"]["value"] == 1.0
    assert rates["telling"]["n"] == 9
    assert rates["silent"]["n"] == 6


def test_a_picture_of_models_that_are_not_there_is_refused(looks):
    pictured = SETTINGS.pictured.model_copy(update={"conditions": ("short", "odd")})
    with pytest.raises(BadInputError, match="no model is 'odd' with seed 0"):
        pictured_looks(looks, SETTINGS.model_copy(update={"pictured": pictured}))


def without(traces, **values):
    (name, value) = next(iter(values.items()))
    return traces.filter(pl.col(name) != value)


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        (lambda t: t.with_columns(condition=pl.lit(None, pl.String)), "condition", "not known"),
        (lambda t: t.with_columns(seed=pl.lit(None, pl.Int32)), "seed", "not known"),
        (lambda t: t.filter(seed=0), "seed", "the same two seeds"),
        (lambda t: without(t, model="dull-char-0"), "seed", "the same two seeds"),
        (lambda t: without(t, condition="healthy"), "tokenizer", "no model of the tokenizer"),
        (lambda t: without(t, condition="dull"), "condition", "'dull': there is no model"),
        (lambda t: t.head(0), "(rows)", "there are none"),
        (
            lambda t: pl.concat([t, t.filter(model="dull-char-0").with_columns(task=pl.lit("b"))]),
            "task",
            "not all models have the same tasks",
        ),
    ],
)
def test_traces_that_do_not_fit_the_question_are_refused(traces, change, field, says):
    with pytest.raises(BadInputError) as raised:
        check_traces(change(traces), EXPECTED, "healthy")
    assert raised.value.field == field
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        ("", "(rows)", "there are none"),
        (HEADER, "(rows)", "there are none"),
        (HEADER + "a,surface,cliff,maybe,because it is so\n", "telling", "bool"),
        (HEADER + "a,ear,cliff,true,because it is so\n", "lens", "fft"),
        (HEADER + "a,surface,slope,true,because it is so\n", "verdicts", "no verdict of surface"),
        (HEADER + 2 * "a,surface,cliff,true,because it is so\n", "condition", "is there twice"),
        ("condition,lens\na,surface\n", "verdicts", "required"),
        (HEADER + "a,surface,cliff,true,because it is so,more\n", "(more)", "unknown"),
    ],
)
def test_a_wrong_expectation_is_named(tmp_path, text, field, says):
    path = tmp_path / "expected.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as raised:
        read_expected(path)
    assert raised.value.field == field
    assert says in str(raised.value)


def origins_of(tokenizers=("char", "bpe"), seeds=3):
    rows = [
        (condition, tokenizer, seed)
        for condition in CONDITIONS
        for tokenizer in tokenizers
        for seed in range(seeds)
    ]
    condition, tokenizer, seed = map(np.array, zip(*rows, strict=True))
    return Origins(condition, tokenizer, seed, condition == "healthy")


def numbers_of(origins, *, effect, noise=0.1, width=6):
    """Numbers that differ by condition by an effect, and by tokenizer by far more."""
    rng = np.random.default_rng(0)
    shift = np.select(
        [origins.condition == "broken", origins.condition == "slow"], [effect, -effect]
    )
    base = 100.0 * (origins.tokenizer == "bpe")
    return base[:, None] + shift[:, None] + noise * rng.standard_normal((len(shift), width))


def test_conditions_that_differ_are_named_whatever_the_tokenizer():
    origins = origins_of()
    answers = named(numbers_of(origins, effect=1.0), origins, NearestMean)
    assert (answers == origins.condition).all()


def test_without_an_effect_naming_is_near_chance():
    origins = origins_of(seeds=30)
    answers = named(numbers_of(origins, effect=0.0), origins, NearestMean)
    assert 0.2 < (answers == origins.condition).mean() < 0.47


def test_what_was_done_to_a_held_out_model_is_not_read():
    origins = origins_of()
    numbers = numbers_of(origins, effect=0.2)
    swapped = origins.condition.copy()
    swapped[(origins.seed == 0) & (origins.condition == "broken")] = "slow"
    swapped[(origins.seed == 0) & (origins.condition == "slow")] = "broken"
    other = Origins(swapped, origins.tokenizer, origins.seed, origins.healthy)
    answers, again = (named(numbers, each, NearestMean) for each in (origins, other))
    assert (answers[origins.seed == 0] == again[origins.seed == 0]).all()


def test_pairs_are_told_apart_where_they_differ_and_not_where_nothing_does():
    origins = origins_of(tokenizers=("char",))
    numbers = numbers_of(origins, effect=1.0)
    pairs = {frozenset(pair) for pair in combinations(CONDITIONS, 2)}
    assert told_apart(numbers, origins, NearestMean) == pairs
    assert told_apart(np.ones_like(numbers), origins, NearestMean) == set()


def test_the_nearest_mean_answers_as_scikit_learns():
    rng = np.random.default_rng(0)
    numbers, classes = rng.standard_normal((40, 5)), rng.choice(["a", "b", "c"], 40)
    theirs = make_pipeline(StandardScaler(), NearestCentroid()).fit(numbers, classes)
    new = rng.standard_normal((60, 5))
    assert (NearestMean().fit(numbers, classes).predict(new) == theirs.predict(new)).all()


@pytest.mark.parametrize("tokenizers", [("char",), ("char", "bpe")])
def test_healthy_models_of_the_tokenizer_are_the_zero(tokenizers):
    origins = origins_of(tokenizers=tokenizers)
    differences = from_healthy(
        numbers_of(origins, effect=1.0, noise=0.0), origins, origins.seed != 0
    )
    assert np.abs(differences[origins.healthy]).max() == 0
    assert np.abs(differences[~origins.healthy]).min() == 1
