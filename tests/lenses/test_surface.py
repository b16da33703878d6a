import numpy as np
import pytest
import statsmodels.api as sm

from failbench.neighbours.lenses.looking import look
from failbench.neighbours.lenses.surface import firth_fit
from made_up_traces import SETTINGS, falling, made_up_slice


def surface(**changes):
    part, scale = made_up_slice(**changes)
    return look("surface", part, scale, SETTINGS)


def test_the_boundary_lies_where_accuracy_crosses_one_half():
    boundary = surface(accuracy=falling(6.5, 0.8), items=60).measures["boundary_length"]
    assert boundary.value == pytest.approx(6.5, abs=0.3)
    assert boundary.ci_low < 6.5 < boundary.ci_high


@pytest.mark.parametrize(
    ("verdict", "changes"),
    [
        ("clean", {"accuracy": lambda length: 0.95}),
        ("cliff", {"accuracy": lambda length: float(length <= 8), "items": 10}),
        ("gradual_decline", {"accuracy": falling(7, 0.5), "items": 40}),
        ("collapse", {"accuracy": lambda length: 0.2}),
        ("chaotic", {"accuracy": lambda length: 0.9 if 4 <= length <= 10 else 0.1}),
        ("truncation_dominant", {"wrong_tokens": lambda length, rng: 1_000}),
        ("undetermined", {"lengths": [4], "depths": [1], "accuracy": lambda length: 0.5}),
    ],
)
def test_each_planted_shape_gets_its_verdict(verdict, changes):
    seen = surface(**changes)
    assert seen.verdict == verdict
    if verdict == "cliff":
        assert seen.measures["boundary_length"].value == pytest.approx(8.5, abs=0.05)
        assert seen.measures["relative_fall"].value < 0.1


def test_the_fit_agrees_with_maximum_likelihood_where_data_are_many():
    rng = np.random.default_rng(0)
    numbers = np.column_stack([np.repeat(np.arange(8.0), 3), np.tile([1.0, 2.0, 3.0], 8)])
    trials = np.full(24, 4_000.0)
    chance = 1 / (1 + np.exp(-(2.0 - 0.7 * numbers[:, 0] + 0.2 * numbers[:, 1])))
    right = rng.binomial(4_000, chance).astype(float)
    model = sm.GLM(
        np.column_stack([right, trials - right]),
        sm.add_constant(numbers),
        family=sm.families.Binomial(),
    )
    (fitted,) = firth_fit(numbers, right[None], trials[None])
    assert fitted == pytest.approx(model.fit().params, rel=2e-3)
