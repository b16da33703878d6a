"""What the monitor measured comes back from tables as a log would hold it."""

import math

import polars as pl

from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.records.tables import (
    histories,
    monitored_of,
    monitored_row,
    read_monitored,
    signal_rows,
    write_monitored,
)

ROWS = (Row(0, {"loss": 6.5, "token_min": -1.0}), Row(10, {"loss": math.nan, "labels_next": 1.0}))


def history():
    end = End("exception", "forward", 12, "RuntimeError", "shapes")
    return History("standard", 10, {"vocabulary": 500.0}, {"ranks_disagree": "one"}, ROWS, end)


def monitored(*run_ids, **changes):
    return monitored_of(
        [
            (
                monitored_row(history(), {"run_id": run_id, "kind": "twin", **changes}),
                signal_rows(history()),
            )
            for run_id in run_ids
        ]
    )


def test_a_history_comes_back_with_what_was_undefined_and_without_what_was_not_measured(tmp_path):
    write_monitored(tmp_path, "gru-sgd", monitored("b", "a"))
    read = list(histories(read_monitored(tmp_path)))
    assert [run["run_id"] for run, _ in read] == ["a", "b"]
    for _, again in read:
        assert again.end == history().end
        assert (again.level, again.every, again.off) == ("standard", 10, {"ranks_disagree": "one"})
        assert [row.step for row in again.rows] == [0, 10]
        assert again.rows[0].values == ROWS[0].values
        assert set(again.rows[1].values) == {"loss", "labels_next"}
        assert math.isnan(again.rows[1].values["loss"])


def test_runs_recorded_again_replace_themselves_alone(tmp_path):
    write_monitored(tmp_path, "gru-sgd", monitored("a", "b", level="light"))
    write_monitored(tmp_path, "gru-adamw", monitored("c"))
    write_monitored(tmp_path, "gru-sgd", monitored("b"))
    read = read_monitored(tmp_path)
    assert dict(read.runs.select("run_id", "level").rows()) == {
        "a": "light",
        "b": "standard",
        "c": "standard",
    }
    assert read.signals.height == 6
    assert read.select(pl.col("run_id") == "a").signals.height == 2


def test_a_run_that_ended_before_its_first_step_has_no_measurements(tmp_path):
    early = History("standard", 10, {}, {}, (), End("exception", "build", 0, "ValueError", ""))
    table = monitored_of([(monitored_row(early, {"run_id": "a"}), [])])
    write_monitored(tmp_path, "gru-sgd", table)
    ((run, again),) = histories(read_monitored(tmp_path))
    assert (run["message"], again.end.message, again.rows) == (None, "", ())
