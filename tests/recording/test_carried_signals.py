"""What is measured again is held against what was, but for what measures the machine."""

from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.records.tables import monitored_of, monitored_row, signal_rows
from failbench.recording.carried_signals import COLUMNS, compared


def monitored(rows):
    history = History("full", 10, {}, {}, tuple(rows), End("completed", "callback", 30))
    return monitored_of([(monitored_row(history, {"run_id": "a"}), signal_rows(history))])


def rows(**changed):
    made = {step: {"loss": 1.0 + step, "rows": 4.0, "memory": 7.0} for step in (0, 10, 13, 20, 30)}
    for name, values in changed.items():
        for step, value in values.items():
            made[step] = {**made[step], name: value}
    return [Row(step, values) for step, values in made.items()]


def test_equal_measurements_are_counted_and_the_machine_is_not():
    again = rows(memory={0: 9.0}, busy_data={10: 1.0})
    assert compared(monitored(rows()), monitored(again)) == {
        "steps_compared": 5, "values_compared": 10, "difference": None,
    }  # fmt: skip
    assert {"loss", "gradient_norm", "token_surprise"} <= set(COLUMNS)


def test_another_value_a_missing_check_and_a_missing_signal_are_differences():
    stored = monitored(rows())
    assert "loss at step 10" in compared(stored, monitored(rows(loss={10: 2.0})))["difference"]
    without_a_check = [row for row in rows() if row.step != 20]
    assert compared(stored, monitored(without_a_check))["difference"].startswith("other checks")
    more = rows(gradient_norm={10: 1.0})
    assert "gradient_norm at step 10" in compared(stored, monitored(more))["difference"]


def test_steps_between_checks_are_there_or_not_as_the_log_was_looked_at():
    seldom = [row for row in rows() if row.step != 13]
    assert compared(monitored(rows()), monitored(seldom))["difference"] is None
    assert compared(monitored(rows()), monitored(rows()[:3]))["steps_compared"] == 3
    nothing = monitored([])
    assert compared(nothing, nothing)["steps_compared"] == 0
