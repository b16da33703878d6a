"""Every stage that measures answers a broken input in one line, before it writes anything."""

import pytest
from broken_inputs import INPUTS, REPORTS, assert_refused

from pipeline import stages

pytestmark = pytest.mark.system


@pytest.mark.parametrize(
    ("stage", "place"), [each for each in INPUTS if each[0] not in REPORTS], ids=str
)
def test_a_broken_input_ends_a_stage_with_one_line_that_names_it(stage, place):
    assert_refused(stage, place)


def test_every_stage_that_reads_something_is_walked(capsys):
    walked = sorted({stage for stage, _ in INPUTS})
    with capsys.disabled():
        print(f"\nwalked {len(walked)} stages: {', '.join(walked)}")
    assert set(walked) == {name for name in stages() if name != "record"}
