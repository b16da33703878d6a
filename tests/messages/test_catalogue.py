import csv
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.messages.catalogue import Message, message_of, messages
from failbench.messages.literals import required_literals

REPOSITORY = Path(__file__).parents[2]

ROWS = [*csv.DictReader((REPOSITORY / "data/messages/examples.csv").open(encoding="utf-8"))]
EXAMPLES = [(row["id"], row["name"], row["text"]) for row in ROWS]
"""A message for each entry, in the words that its library documents or has in its source."""


def test_each_entry_has_an_example():
    assert [name for name, *_ in EXAMPLES] == [known.id for known in messages()]


@pytest.mark.parametrize(("known", "name", "text"), EXAMPLES)
def test_an_example_is_known_as_its_entry_and_no_earlier_one(known, name, text):
    assert message_of(name, text).id == known


def test_no_entry_takes_a_near_miss_for_its_own():
    near = {row["id"]: row["near_miss"] for row in ROWS}
    patterns = {known.id: known.pattern for known in messages()}
    assert all(near.values())
    taken = [name for name, text in near.items() if patterns[name].search(f": {text}")]
    assert taken == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ValueError", "the learning rate must be positive"),
        ("Exception", "'labels'"),
        ("RuntimeError", "loss 3.5 at step 4"),
        ("OSError", ""),
    ],
)
def test_what_a_program_says_by_itself_is_not_guessed_at(name, text):
    assert message_of(name, text) is None


def test_no_pattern_takes_longer_than_its_text():
    """Repeats that have no end are of digits, letters of a word, or one letter."""
    for known in messages():
        without = re.sub(r"\\[dw][*+]|\[\^?[^]]{1,12}\]\+", "", known.pattern.pattern)
        assert not re.search(r"(?<!\\)[+*]", without), known.id


WHOLE = {
    "id": "x", "library": "x", "pattern": "x", "meaning": "x.", "category": "optimization",
    "also": "data_pipeline", "causes": "learning_rate_too_high;labels_wrong",
    "strength": "direct", "said": "warning", "check": "x.", "source": "x",
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("causes", "labels_wrong", "first cause of x does not lie in optimization"),
        ("causes", "learning_rate_too_high;disk_full", "in none of its categories"),
        ("causes", "the_moon", "'the_moon' is no cause"),
        ("causes", ";".join(["learning_rate_too_high"] * 5), "at most 4 items"),
        ("category", "weather", "category"),
        ("strength", "weak", "strength"),
    ],
)
def test_an_entry_that_contradicts_itself_is_refused(field, value, told):
    assert Message(**WHOLE).causes == ("learning_rate_too_high", "labels_wrong")
    with pytest.raises(ValueError, match=re.escape(told)):
        Message(**{**WHOLE, field: value})


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"CUDA out of memory\. Tried", ("CUDA out of memory. Tried",)),
        (r"worker[^)|]{0,40}\) is killed", (") is killed",)),
        (r"fault(?:y|s|)|abort\w{1,3}ed", ("fault", "abort")), (r"batches? of one", (" of one",)),
        (r"abcx{0,2}|[]a|b]xyz", ("abc", "xyz")), (r"loss|\d+", ()), (r"ab", ()),
    ],
)  # fmt: skip
def test_a_literal_is_the_longest_run_outside_of_what_may_vary(pattern, literals):
    assert required_literals(pattern) == literals


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_text_that_matches_holds_a_literal(data):
    known = data.draw(st.sampled_from(messages()))
    literals = required_literals(known.pattern.pattern)
    text = data.draw(st.from_regex(re.compile(known.pattern.pattern)))
    assert not literals or any(literal in text for literal in literals)
