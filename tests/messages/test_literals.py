import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.messages.catalogue import messages
from failbench.messages.literals import required_literals


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"CUDA out of memory\. Tried", ("CUDA out of memory. Tried",)),
        (r"worker[^)|]{0,40}\) is killed", (") is killed",)),
        (r"fault(?:y|s|)|abort\w{1,3}ed", ("fault", "abort")),
        (r"batches? of one", (" of one",)),
        (r"abcx{0,2}|[]a|b]xyz", ("abc", "xyz")),
        (r"loss|\d+", ()),
        (r"ab", ()),
    ],
)
def test_a_literal_is_the_longest_run_outside_of_what_may_vary(pattern, literals):
    assert required_literals(pattern) == literals


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_text_that_matches_holds_a_literal(data):
    known = data.draw(st.sampled_from(messages()))
    literals = required_literals(known.pattern.pattern)
    text = data.draw(st.from_regex(re.compile(known.pattern.pattern)))
    assert not literals or any(literal in text for literal in literals)
