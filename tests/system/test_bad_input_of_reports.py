"""Every report answers a broken input in one line; a file of its own, so that two workers walk."""

import pytest
from broken_inputs import INPUTS, REPORTS, assert_refused

pytestmark = pytest.mark.system


@pytest.mark.parametrize(
    ("stage", "place"), [each for each in INPUTS if each[0] in REPORTS], ids=str
)
def test_a_broken_input_ends_a_report_with_one_line_that_names_it(stage, place):
    assert_refused(stage, place)
