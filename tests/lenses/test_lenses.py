import math

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from failbench.neighbours.lenses.compression import loop_letters
from failbench.neighbours.lenses.fft import amplitudes
from failbench.neighbours.lenses.hazard import course_of, incidences
from failbench.neighbours.lenses.looking import look
from failbench.neighbours.lenses.slices import Slice
from failbench.neighbours.lenses.surface import firth_fit
from made_up_traces import SETTINGS, falling, looping, made_up_slice


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


def slice_of(tokens, outcomes):
    part, _ = made_up_slice(lengths=[2], depths=[1], items=len(tokens))
    rows = part.rows.with_columns(
        tokens=pl.Series(tokens, dtype=pl.Int64), outcome=pl.Series(outcomes)
    )
    return Slice("m", "t", "char", None, None, rows)


TOKENS = [1, 2, 2, 3, 4, 4]
OUTCOMES = ["correct", "wrong", "correct", "truncated", "wrong", "truncated"]


def test_incidences_are_those_calculated_by_hand():
    # open: 6, 5, 3, 2; unanswered before: 1, 5/6, 1/2, 1/2
    right, wrong = course_of(slice_of(TOKENS, OUTCOMES), np.ones((1, 6))).incidence
    assert right[0, 1:] == pytest.approx([1 / 6, 1 / 6 + 1 / 6, 1 / 3, 1 / 3])
    assert wrong[0, 1:] == pytest.approx([0, 1 / 6, 1 / 6, 1 / 6 + 1 / 4])


def test_intervals_are_those_calculated_by_hand_and_within_0_and_1():
    # nobody is truncated: the variance of a share is that of a binomial one
    tokens, events = np.arange(1, 11), np.array([1, 2] * 5)
    curves = incidences(tokens, events, np.array([0.5, 4.0]), 0.95)
    share, deviation = 0.2, np.sqrt(0.2 * 0.8 / 10)
    power = np.exp(1.959964 * deviation / (share * -np.log(share)))
    assert curves["wrong_incidence"][1] == pytest.approx(share)
    assert curves["wrong_incidence_low"][1] == pytest.approx(share**power)
    assert curves["wrong_incidence_high"][1] == pytest.approx(share ** (1 / power))
    hazard = 1 / 9 + 1 / 7
    spread = np.exp(1.959964 * np.sqrt(1 / 81 + 1 / 49) / hazard)
    assert curves["wrong_hazard_sum"][1] == pytest.approx(hazard)
    assert curves["wrong_hazard_sum_high"][1] == pytest.approx(hazard * spread)
    assert curves["wrong_incidence"][0] == 0
    assert np.isnan(curves["wrong_incidence_low"][0])


def compression(items=30, **changes):
    return look("compression", *made_up_slice(items=items, **changes), SETTINGS)


def test_where_bytes_depend_on_length_alone_the_matched_contrast_is_zero():
    def text(tokens, rng):
        return "".join(chr(161 + place) for place in range(tokens))

    measures = compression(right_text=text, wrong_text=text).measures
    assert measures["unmatched_difference"].ci_low > 5
    assert measures["matched_difference"].value == pytest.approx(0, abs=1e-9)
    assert measures["matched_auc"].value == 0.5
    assert measures["unmatched_auc"].ci_high < 0.4


def always(tokens):
    return lambda n, rng: tokens


OVERTHINK = {
    "right_tokens": lambda n, rng: 3 * n + int(rng.integers(0, 20)),
    "wrong_tokens": lambda n, rng: 6 * n + int(rng.integers(0, 20)),
    "wrong_text": lambda tokens, rng: "".join(rng.choice(list("012"), tokens)),
}


@pytest.mark.parametrize(
    ("verdict", "changes"),
    [
        ("clean", {}),
        ("loop", {"wrong_text": looping, "wrong_tokens": always(64)}),
        ("underthink", {"right_tokens": always(9), "wrong_tokens": always(9)}),
        ("overthink", OVERTHINK),
        ("undetermined", {"lengths": [5], "depths": [1]}),
    ],
)
def test_each_planted_pattern_gets_its_verdict(verdict, changes):
    seen = compression(**changes)
    assert seen.verdict == verdict
    if verdict == "clean":  # work that is written out grows in proportion
        assert seen.measures["growth"].value == pytest.approx(1.0, abs=0.1)


def brute_loop(text):
    """The letters at the end that are three or more copies of one block, by trying all."""
    best = 0
    for block in range(1, len(text) // 3 + 1):
        letters_ = block
        while letters_ < len(text) and text[-1 - letters_] == text[block - 1 - letters_]:
            letters_ += 1
        if letters_ >= 3 * block:
            best = max(best, letters_)
    return best


def test_loops_are_those_that_trying_every_block_finds():
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(rng.choice(list("ab"), int(rng.integers(0, 30))))
        assert loop_letters(text) == brute_loop(text)


# The lens ``fft``.


def wave(length, rng=None):
    return [round(1000 + 100 * math.sin(2 * math.pi * at / 8)) for at in range(8 * length)]


def noise(length, rng):
    return rng.integers(0, 200, 96).tolist()


def fft(prompt):
    return look("fft", *made_up_slice(items=4, prompt=prompt), SETTINGS)


def test_the_spectrum_of_a_sine_peaks_at_its_frequency_and_height_and_noise_has_more_entropy():
    sine = fft(lambda n, rng: wave(12)).measures
    assert sine["peak_frequency"].value == pytest.approx(1 / 8, abs=1 / 256)
    assert sine["peak_height"].value == pytest.approx(50, rel=0.02)
    assert sine["bandwidth"].value == pytest.approx(1.2 / 96, abs=2 / 256)
    entropy = fft(noise).measures["entropy"]
    assert entropy.ci_low > sine["entropy"].ci_high
    assert entropy.value > 0.95


def test_amplitudes_are_those_of_the_transform_by_the_tokens_of_the_prompt():
    prompt = [3, 1, 4, 1, 5]
    padded = np.zeros(16)
    padded[:5] = np.array(prompt) - np.mean(prompt)
    assert amplitudes([prompt], 16)[0] == pytest.approx(np.abs(np.fft.rfft(padded))[1:] / 5)
