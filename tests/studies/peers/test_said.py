from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.peers.verdicts import VERDICT_SCHEMA
from failbench.prediction.slices import ReferenceStudy
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.peers.said import (
    MONITORED,
    best_formats,
    of_methods,
    of_recorded,
    runs_of,
)
from failbench.studies.peers.schemas import BREAKS, DOCUMENTED, RUN_SCHEMA
from failbench.telemetry import RUN_SCHEMA as ALL_RUNS

RUNS = pl.DataFrame(
    [
        {"run_id": "a", "kind": "failure", "scenario": "s", "category": "memory_hardware"},
        {"run_id": "b", "kind": "twin", "scenario": "s", "category": "memory_hardware"},
        {"run_id": "c", "kind": "success"},
    ],
    schema=RUN_SCHEMA,
)


def recorded(run, form, issues, severities):
    return dict.fromkeys(VERDICT_SCHEMA) | {
        "run_id": run,
        "format": form,
        "peer": "runmedic",
        "issues": issues,
        "severities": severities,
        "confidences": [],
    }


VERDICTS = pl.DataFrame(
    [
        recorded("a", "csv", [], []),
        recorded("a", "mlflow", ["log:cuda_oom", "overfitting"], ["critical", "info"]),
        recorded("b", "csv", [], []),
        recorded("b", "mlflow", ["overfitting"], ["info"]),
        recorded("elsewhere", "mlflow", ["divergence"], ["critical"]),
    ],
    schema=VERDICT_SCHEMA,
)


def test_a_tool_is_taken_in_the_format_that_it_names_most_causes_right_in():
    assert set(best_formats(VERDICTS, RUNS)["format"]) == {"mlflow"}
    assert set(best_formats(VERDICTS, RUNS)["run_id"]) == {"a", "b"}


def test_a_recorded_verdict_has_no_step_and_is_tried_from_each_severity_on():
    table = of_recorded(best_formats(VERDICTS, RUNS))
    assert table["step"].null_count() == table.height
    twin = {row["choice"]: row["detected"] for row in table.filter(run_id="b").to_dicts()}
    assert not twin[DOCUMENTED]
    assert twin["from info on"]
    assert not twin["from critical on"]


def test_the_monitor_alarms_where_something_broke_and_other_methods_are_told():
    predictions = pl.DataFrame(
        [
            dict.fromkeys(PREDICTION_SCHEMA)
            | {"method": method, "repeat": 0, "run_id": "a", "prediction": "optimization"}
            for method in ("simple_rules", MONITORED)
        ],
        schema=PREDICTION_SCHEMA,
    )
    breaks = pl.DataFrame([{"run_id": "a", "first_break": 7}], schema=BREAKS)
    table = of_methods(predictions, breaks, RUNS)
    of_monitor = {row["run_id"]: row for row in table.filter(method=MONITORED).to_dicts()}
    assert (of_monitor["a"]["detected"], of_monitor["a"]["step"]) == (True, 7)
    assert not of_monitor["b"]["detected"]
    assert not of_monitor["c"]["detected"]
    assert table.filter(method="simple_rules")["detected"].to_list() == [None]


def test_a_run_whose_scenario_is_not_defined_and_no_run_at_all_are_one_clear_line():
    reference = ReferenceStudy(
        architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0,), seed=0
    )
    setting = {"architecture": "transformer", "optimizer": "adamw", "scale": "small", "seed": 0}
    run = {"run_id": "a", "kind": "failure", "scenario": "lost", "ending": "completed"}
    table = pl.DataFrame([setting | run], schema=ALL_RUNS)
    with pytest.raises(BadInputError, match="'lost' was recorded and is not defined"):
        runs_of(table, (), reference)
    with pytest.raises(BadInputError, match="no failing run of transformer is there"):
        runs_of(table.clear(), (), reference)


def test_a_version_by_which_the_monitor_judged_nothing_is_refused():
    predictions = pl.DataFrame(
        [dict.fromkeys(PREDICTION_SCHEMA) | {"method": MONITORED, "run_id": "a"}],
        schema=PREDICTION_SCHEMA,
    )
    with pytest.raises(BadInputError, match="judged none of the runs"):
        of_methods(predictions, BREAKS.to_frame(), RUNS)
