import math
import zlib

import numpy as np
import pytest

from failbench.neighbours.lenses.compression import compressed_bytes, ends_in_loop, loop_letters
from failbench.neighbours.lenses.fft import amplitudes
from failbench.neighbours.lenses.looking import look
from made_up_traces import SETTINGS, looping, made_up_slice


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


def test_bytes_are_those_of_zlib_less_an_empty_text():
    text = "g(1h(2i)1j)0"
    assert compressed_bytes(text) == len(zlib.compress(text.encode(), 9)) - 8
    assert compressed_bytes("") == 0


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


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("", False),
        ("111111", False),
        ("1" * 16, True),
        ("abcdefghijklmnopqrstuvwxyz" + "12," * 9, True),
        ("abcdefghijklmnopqrstuvwxyz" + "12," * 8, False),
        ("gK+4=K7," * 5 + "gK+", True),
        ("gK+4=K7,hB-1=B4:4", False),
    ],
)
def test_a_loop_is_half_of_the_text_and_sixteen_letters(text, loops):
    assert ends_in_loop(text) is loops


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
