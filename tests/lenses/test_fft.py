"""The lens ``fft`` on made-up prompts whose spectrum is known."""

import math

import numpy as np
import pytest

from failbench.neighbours.lenses.fft import amplitudes
from failbench.neighbours.lenses.looking import look
from made_up_traces import SETTINGS, made_up_slice


def wave(period, length, height=100):
    return [round(1000 + height * math.sin(2 * math.pi * at / period)) for at in range(8 * length)]


def fft(**changes):
    part, scale = made_up_slice(**{"items": 4, **changes})
    return look("fft", part, scale, SETTINGS)


def test_the_spectrum_of_a_sine_peaks_at_its_frequency_and_height():
    measures = fft(prompt=lambda n, rng: wave(8, 12)).measures
    assert measures["peak_frequency"].value == pytest.approx(1 / 8, abs=1 / 256)
    assert measures["peak_height"].value == pytest.approx(50, rel=0.02)
    assert measures["bandwidth"].value == pytest.approx(1.2 / 96, abs=2 / 256)


def test_noise_has_more_entropy_than_a_sine():
    sine = fft(prompt=lambda n, rng: wave(8, 12)).measures["entropy"]
    noise = fft(prompt=lambda n, rng: rng.integers(0, 50, 96).tolist()).measures["entropy"]
    assert noise.ci_low > sine.ci_high
    assert noise.value > 0.95


def test_a_peak_that_flattens_at_long_problems_is_a_collapse():
    def prompt(length, rng):
        return wave(8, 12) if length < 8 else rng.integers(0, 200, 96).tolist()

    seen = fft(prompt=prompt)
    assert seen.verdict == "spectral_collapse"
    assert fft(prompt=lambda n, rng: wave(8, n)).verdict == "clean"


def test_amplitudes_are_those_of_the_transform_by_the_tokens_of_the_prompt():
    prompt = [3, 1, 4, 1, 5]
    padded = np.zeros(16)
    padded[:5] = np.array(prompt) - np.mean(prompt)
    assert amplitudes([prompt], 16)[0] == pytest.approx(np.abs(np.fft.rfft(padded))[1:] / 5)
