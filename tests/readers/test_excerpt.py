"""Of a log the words of its beginning and its end are kept, without numbers and paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.diagnose.readers.excerpt import HEAD, TAIL, Excerpt, without_numbers
from failbench.diagnose.readers.text import read_text


def kept(lines):
    excerpt = Excerpt()
    for line in lines:
        excerpt.feed(line)
    return excerpt.text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Epoch 3/10 loss=0.125 lr 1e-05", "epoch 0/0 loss=0 lr 0"),
        ("/home/me/train.py:31 in <module>", "/train.py:0 in <module>"),
        ("10:03:59,120 saved", "0 saved"), ("=====  step ====", "= step ="),
        ("Loss: NaN", "loss: nan"), ("", ""),
    ],
)  # fmt: skip
def test_a_line_is_its_words(line, words):
    assert without_numbers(line) == words


def test_an_hour_of_progress_is_one_line():
    lines = [f"step {step} loss {1 / (step + 1):.4f}" for step in range(5_000)]
    assert kept(lines) == "step 0 loss 0"
    assert kept([*lines, "ValueError: the end"]).splitlines()[-1] == "valueerror: the end"


def test_of_a_long_log_the_two_ends_are_kept():
    letters = "abcdefghijklmnopqrstuvwxyz"
    lines = [a + b + c + d for a in letters for b in letters for c in letters for d in "xyz"]
    text = kept(lines)
    assert HEAD <= len(text) <= HEAD + TAIL + 100
    assert text.startswith("aaax")
    assert text.endswith("zzzz")
    assert "mmmx" not in text


@given(st.lists(st.text(max_size=40), max_size=30))
def test_whatever_is_fed_is_kept_small_and_repeats_change_nothing(lines):
    assert len(kept(lines)) <= HEAD + TAIL + 100
    few = [line for line in lines if line.isprintable()]
    assert kept([*few, *few]) == kept(few) or len(kept(few)) >= HEAD


def test_a_log_keeps_its_words():
    log = read_text("train.log", [b"step 1 loss 2.5\nKeyError: 'text'\n"])
    assert log.words == "step 0 loss 0\nkeyerror: 'text'"
