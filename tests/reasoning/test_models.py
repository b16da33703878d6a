import pytest
import torch

from failbench.reasoning.grid import Cell, problems_of
from failbench.reasoning.model import Cache, Decoder
from failbench.reasoning.problems import ALPHABET
from failbench.reasoning.sampling import sample
from failbench.reasoning.tokenizers import of_characters
from failbench.reasoning.training import train

TOKENIZER = of_characters("char", ALPHABET)
CELLS = tuple(Cell(task="paths", length=length, depth=1, trained=True) for length in (1, 2))
causal_or_not = pytest.mark.parametrize("is_causal", [True, False])


@pytest.fixture(scope="module")
def settings(declared):
    shape = declared.settings.shape.model_copy(update={"width": 16, "layers": 2, "heads": 2})
    small = {"shape": shape, "batch": 8, "steps": 100, "learning_rate": 0.01, "warmup": 5}
    return declared.settings.model_copy(update={**small, "mixture": {"paths": 1}})


@pytest.fixture(scope="module")
def condition(declared):
    (healthy,) = (
        each
        for each in declared.conditions
        if (each.condition, each.tokenizer) == ("healthy", "char")
    )
    return lambda **changes: healthy.model_copy(update={"context": 60, **changes})


@pytest.fixture(scope="module")
def fit(settings, condition):
    """Trains a tiny model; the healthy one once for all."""
    return lambda **changes: train(CELLS, settings, condition(**changes), TOKENIZER, 1, frozenset())


@pytest.fixture(scope="module")
def trained(fit):
    return fit()


@pytest.fixture(scope="module")
def decoder(settings):
    def made(is_causal=True):
        size = len(TOKENIZER.tokens)
        return Decoder(settings.shape, size, is_causal=is_causal, seed=0).eval()

    return made


@causal_or_not
def test_a_causal_model_alone_does_not_see_the_token_to_be_predicted(decoder, is_causal):
    model = decoder(is_causal)
    ids = torch.arange(2, 12)[None]
    other = ids.clone()
    other[0, -1] = 40
    with torch.inference_mode():
        apart = (model(ids)[:, :-1] - model(other)[:, :-1]).abs().max()
    assert (apart == 0) if is_causal else (apart > 1e-3)


def test_a_causal_model_with_its_cache_gives_what_it_gives_without(decoder):
    model = decoder()
    ids = torch.arange(2, 10)[None].repeat(2, 1)
    with torch.inference_mode():
        cache = Cache()
        parts = [model(part, cache) for part in (ids[:, :5], ids[:, 5:6], ids[:, 6:])]
        assert torch.allclose(torch.cat(parts, dim=1), model(ids), atol=1e-4)
        cache.select(torch.tensor([True, False]))
        assert cache.tokens == 8
        assert model(ids[:1, :1], cache).shape[:2] == (1, 1)


def test_a_tiny_model_learns_in_seconds(trained, fit):
    start = fit(steps=0.01)
    assert (trained.steps, start.steps) == (100, 1)
    assert trained.loss < 0.3 * start.loss
    prompts = [TOKENIZER.encode(problem.prompt) for problem in problems_of(CELLS[0], 20, seed=5)]
    answers = sample(trained.model, prompts, budget=12, temperature=0.7, seed=1)
    assert sum(answer.is_ended for answer in answers) >= 15  # it knows the form of answers
