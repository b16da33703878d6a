"""What a log of either library must hold of a healthy training of eight steps."""

import pytest

from made_up_models import ROWS, alarms

STEPS = list(range(8))


def series(callback, name):
    steps, values = callback.monitor.history().series(name)
    return list(steps), list(values)


def assert_all_is_measured(callback, unmeasured=()):
    """Batches, losses, updates and two evaluations, but for some signals and those of padding."""
    history = callback.monitor.history()
    assert history.end.kind == "completed"
    assert alarms(history) == set()
    left_out = {"memory_available", "ranks_disagree", *unmeasured}
    assert {name for name in history.off if "padding" not in name} <= left_out
    healthy_values = {"rows": ROWS, "forwards": 1, "backwards": 1, "labels_next": 1}
    nothing = ("gradients_left", "outside_tokenizer", "outside_token_table", "weights_kept")
    healthy_values |= dict.fromkeys((*nothing, "modules_in_evaluation"), 0)
    for name, healthy in healthy_values.items():
        if name not in unmeasured:
            measured, values = series(callback, name)
            assert set(values) == {healthy}, name
            assert set(measured) >= set(STEPS[1:]), name
    for name in ("loss", "gradient_norm", "learning_rate", "busy_data", "busy_backward"):
        assert series(callback, name)[0] == STEPS, name
    assert series(callback, "loss_ratio")[1] == pytest.approx([1] * 8, rel=1e-4)
    assert series(callback, "update_error")[1] == pytest.approx([0] * 8, abs=1e-3)
    assert series(callback, "evaluation_loss")[0] == [3, 7]
    assert series(callback, "evaluation_loss_ratio")[1] == pytest.approx([1, 1], rel=1e-4)
    assert series(callback, "evaluation_rows")[1] == [ROWS, ROWS]
    for name in ("evaluation_changed", "evaluation_graph", "evaluation_training"):
        assert series(callback, name) == ([3, 7], [0, 0]), name
