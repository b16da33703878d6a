"""Memory is told by phase, and the phase that grew first is named."""

import pytest

from failbench.diagnose.inspection.memory import first_to_leave, memory_by_phase, memory_text
from failbench.monitor.end import End
from failbench.monitor.history import History, Row

MIB = 2.0**20


def history_of(series, every=10):
    steps = max(len(values) for values in series.values())
    rows = tuple(
        Row(every * place, {name: values[place] for name, values in series.items()})
        for place in range(steps)
    )
    return History("light", every, {}, {}, rows, End("completed", "callback", every * steps))


def test_a_phase_has_its_median_peak_and_growth():
    series = {"memory_forward": [MIB * (10 + place) for place in range(21)]}
    (phase,) = memory_by_phase(history_of(series))
    assert phase.phase == "forward"
    assert (phase.measurements, phase.median, phase.peak) == (21, 20 * MIB, 30 * MIB)
    assert phase.peak_step == 200
    assert phase.growth == pytest.approx(MIB / 10)
    assert phase.start == 17 * MIB
    assert phase.left_start == 130  # the second in a row above 21 MiB


def test_the_phase_that_left_its_start_first_is_named():
    flat = [MIB] * 30
    series = {
        "memory_forward": flat,
        "memory_backward": flat[:20] + [9 * MIB] * 10,
        "memory_evaluation": flat[:12] + [9 * MIB] * 18,
        "memory": [MIB * place * 10 for place in range(30)],
    }
    phases = memory_by_phase(history_of(series))
    assert [each.phase for each in phases] == ["forward", "backward", "evaluation", "whole"]
    assert first_to_leave(phases).phase == "evaluation"
    assert memory_text(phases).endswith(
        "The first phase to leave its start: evaluation, at step 130."
    )


@pytest.mark.parametrize(
    "after", [[2 * MIB] * 12, [9 * MIB, MIB] * 6, [0.0] * 12], ids=["small", "single", "less"]
)
def test_small_single_and_lower_values_leave_no_start(after):
    phases = memory_by_phase(history_of({"memory_step": [MIB] * 8 + after}))
    assert first_to_leave(phases) is None
    assert memory_text(phases).endswith("No phase left its start.")
