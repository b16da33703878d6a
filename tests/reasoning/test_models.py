"""The decoder sees what it should, learns, and answers within its budget."""

import numpy as np
import pytest
import torch

from failbench.reasoning.conditions import Condition, Settings, Shape
from failbench.reasoning.examples import IGNORED, arrays, examples
from failbench.reasoning.grid import Cell, problems_of, stream
from failbench.reasoning.model import Cache, Decoder
from failbench.reasoning.problems import ALPHABET
from failbench.reasoning.sampling import sample
from failbench.reasoning.tokenizers import END, PAD, of_characters
from failbench.reasoning.training import train

TOKENIZER = of_characters("char", ALPHABET)
SHAPE = Shape(width=16, layers=2, heads=2)
CELLS = tuple(Cell(task="paths", length=length, depth=1, trained=True) for length in (1, 2))
SETTINGS = Settings(
    shape=SHAPE,
    batch=8,
    steps=100,
    learning_rate=0.01,
    warmup=5,
    decay=0.3,
    weight_decay=0.0,
    clip=1.0,
    temperature=0.7,
    budget=12,
    items=10,
    problem_seed=0,
    seeds=(1,),
    mixture={"paths": 1},
)
HEALTHY = Condition(
    condition="healthy",
    tokenizer="char",
    prompt_tokenizer="char",
    steps=1,
    rate=1,
    context=60,
    is_causal=True,
    shuffled=0,
    looped=0,
    what="nothing is done",
)


def condition(**changes):
    return HEALTHY.model_copy(update=changes)


def drawn(changed, number, seed=1):
    problems = stream(CELLS, SETTINGS.mixture, np.random.default_rng(seed))
    rows = examples(problems, changed, TOKENIZER, seed)
    return [next(rows) for _ in range(number)]


def decoder(*, is_causal=True, seed=0):
    return Decoder(SHAPE, len(TOKENIZER.tokens), is_causal=is_causal, seed=seed).eval()


@pytest.mark.parametrize("is_causal", [True, False])
def test_a_causal_model_alone_does_not_see_the_token_to_be_predicted(is_causal):
    model = decoder(is_causal=is_causal)
    ids = torch.arange(2, 12)[None]
    other = ids.clone()
    other[0, -1] = 40
    with torch.inference_mode():
        apart = (model(ids)[:, :-1] - model(other)[:, :-1]).abs().max()
    assert (apart == 0) if is_causal else (apart > 1e-3)


def test_a_model_without_mask_learns_what_it_cannot_use():
    """Its loss is lower than that of the causal twin, and its answers are worse."""
    few = SETTINGS.model_copy(update={"steps": 60})
    losses = {
        is_causal: train(CELLS, few, condition(is_causal=is_causal), TOKENIZER, 1, frozenset()).loss
        for is_causal in (True, False)
    }
    assert losses[False] < losses[True]


@pytest.mark.parametrize("is_causal", [True, False])
def test_reading_the_prompt_at_once_or_filled_at_its_beginning_is_the_same(is_causal):
    model = decoder(is_causal=is_causal)
    ids = torch.arange(2, 9)[None]
    filled = torch.cat([torch.full((1, 3), PAD), ids], dim=1)
    with torch.inference_mode():
        plain = model(ids)
        padded = model(filled, Cache(), torch.tensor([3]))[:, 3:]
    assert torch.allclose(plain, padded, atol=1e-4)


def test_a_causal_model_with_its_cache_gives_what_it_gives_without():
    model = decoder()
    ids = torch.arange(2, 10)[None].repeat(2, 1)
    with torch.inference_mode():
        cache = Cache()
        parts = [model(part, cache) for part in (ids[:, :5], ids[:, 5:6], ids[:, 6:])]
        assert torch.allclose(torch.cat(parts, dim=1), model(ids), atol=1e-4)
        cache.select(torch.tensor([True, False]))
        assert cache.tokens == 8
        assert model(ids[:1, :1], cache).shape[:2] == (1, 1)


@pytest.fixture(scope="module")
def trained():
    return train(CELLS, SETTINGS, HEALTHY, TOKENIZER, 1, frozenset())


def test_a_tiny_model_learns_in_seconds(trained):
    start = train(CELLS, SETTINGS, condition(steps=0.01), TOKENIZER, 1, frozenset())
    assert (trained.steps, start.steps) == (100, 1)
    assert trained.loss < 0.3 * start.loss
    problems = problems_of(CELLS[0], 20, seed=5)
    prompts = [TOKENIZER.encode(problem.prompt) for problem in problems]
    answers = sample(trained.model, prompts, budget=12, temperature=0.7, seed=1)
    assert sum(answer.is_ended for answer in answers) >= 15  # it knows the form of answers


def test_a_loss_that_is_no_number_is_an_error():
    with pytest.raises(FloatingPointError, match="step"):
        train(CELLS, SETTINGS, condition(rate=1e30), TOKENIZER, 1, frozenset())


def test_sampling_keeps_its_budget_and_stops_at_the_end(trained):
    prompts = [TOKENIZER.encode(text) for text in ("aB?a1>", "cD,eF?e1>", "xY?x1>")]
    for answer in sample(trained.model, prompts, budget=4, temperature=0.7, seed=1):
        assert len(answer.ids) <= 4
        assert answer.is_ended == (answer.ids[-1] == END)
        assert END not in answer.ids[:-1]
        assert PAD not in answer.ids
    untrained = sample(decoder(), prompts * 50, budget=3, temperature=5.0, seed=1)
    assert {len(answer.ids) for answer in untrained if not answer.is_ended} == {3}
    assert not any(PAD in answer.ids for answer in untrained)


def test_losses_count_responses_alone():
    rows = drawn(HEALTHY, 5)
    ids, labels = arrays(rows)
    assert ids.shape == (5, labels.shape[1] + 1)
    for row, line, label in zip(rows, ids, labels, strict=True):
        counted = label != IGNORED
        assert tuple(label[counted]) == row.ids[row.prompt :]
        assert (label[counted] == line[1:][counted]).all()
