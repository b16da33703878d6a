import numpy as np
import polars as pl
import pytest
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from failbench.base.errors import BadInputError
from failbench.neighbours.lenses.catalogue import Expected, verdicts_given
from failbench.neighbours.lenses.looking import look_at_models, verdict_table
from failbench.neighbours.lenses.naming import NearestMean, Origins, named
from made_up_traces import made_up_study
from reasoning_lenses import Pictured, ReasoningLensesSettings, as_expected, check_traces, naming

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


@pytest.fixture(scope="module")
def traces():
    return made_up_study(tasks=("arithmetic",), items=8)


def test_planted_conditions_are_named_by_the_lens_that_can_see_them_and_scored(traces):
    looks = look_at_models(traces, SETTINGS.resampling)
    keys = ("model", "condition", "seed", "tokenizer")
    models = verdict_table(looks).select(keys).unique(maintain_order=True)
    rates, names, _ = naming(looks, models, SETTINGS)
    by_lenses = {row["lenses"]: row for row in rates.to_dicts() if "nearest" in row["classifier"]}
    assert min(by_lenses[lenses]["value"] for lenses in ("all", "surface")) > 0.9
    assert by_lenses["all"]["n"] == 15
    # prompts tell nothing of what was done: the most frequent condition is named
    assert by_lenses["fft"]["value"] == 6 / 15
    assert set(names.filter(lenses="fft")["named"]) == {"healthy"}
    scored = as_expected(verdicts_given(verdict_table(looks), EXPECTED, "healthy"), models, 0.95)
    assert scored["compression"]["value"] == 1.0
    assert (scored["telling"]["n"], scored["silent"]["n"]) == (9, 6)


TWO_SEEDS, OTHER_TASK = "the same two seeds", "not all models have the same tasks"


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        (lambda t: t.with_columns(condition=pl.lit(None, pl.String)), "condition", "not known"),
        (lambda t: t.filter(pl.col("model") != "dull-char-0"), "seed", TWO_SEEDS),
        (lambda t: t.filter(pl.col("condition") != "healthy"), "tokenizer", "no model of the tok"),
        (lambda t: t.filter(pl.col("condition") != "dull"), "condition", "there is no model"),
        (lambda t: pl.concat([t, t.head(1).with_columns(task=pl.lit("b"))]), "task", OTHER_TASK),
    ],
)
def test_traces_that_do_not_fit_the_question_are_refused(traces, change, field, says):
    with pytest.raises(BadInputError) as raised:
        check_traces(change(traces), EXPECTED, "healthy")
    assert (raised.value.field, says in str(raised.value)) == (field, True)


def origins_of(tokenizers=("char", "bpe"), seeds=3):
    rows = [(c, t, seed) for c in CONDITIONS for t in tokenizers for seed in range(seeds)]
    condition, tokenizer, seed = map(np.array, zip(*rows, strict=True))
    return Origins(condition, tokenizer, seed, condition == "healthy")


def numbers_of(origins, *, effect, noise=0.1):
    """Six numbers that differ by condition by an effect, and by tokenizer by far more."""
    signs = np.select([origins.condition == "broken", origins.condition == "slow"], [1, -1])
    base = 100.0 * (origins.tokenizer == "bpe") + effect * signs
    return base[:, None] + noise * np.random.default_rng(0).standard_normal((len(signs), 6))


def test_what_was_done_to_a_held_out_model_is_not_read():
    origins = origins_of()
    numbers = numbers_of(origins, effect=0.2)
    other = {"broken": "slow", "slow": "broken"}
    swapped = [
        other.get(name, name) if seed == 0 else name
        for name, seed in zip(origins.condition, origins.seed, strict=True)
    ]
    exchanged = Origins(np.array(swapped), origins.tokenizer, origins.seed, origins.healthy)
    answers, again = (named(numbers, each, NearestMean) for each in (origins, exchanged))
    assert (answers[origins.seed == 0] == again[origins.seed == 0]).all()


def test_the_nearest_mean_answers_as_scikit_learns():
    rng = np.random.default_rng(0)
    numbers, classes = rng.standard_normal((40, 5)), rng.choice(["a", "b", "c"], 40)
    theirs = make_pipeline(StandardScaler(), NearestCentroid()).fit(numbers, classes)
    new = rng.standard_normal((60, 5))
    assert (NearestMean().fit(numbers, classes).predict(new) == theirs.predict(new)).all()
