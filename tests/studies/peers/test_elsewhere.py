"""A tool that was asked about runs of other settings alone is judged on these."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.peers.verdicts import VERDICT_SCHEMA
from failbench.scenarios import read_scenarios
from failbench.studies.peers.elsewhere import NOTHING, Asked, asked_elsewhere
from failbench.studies.peers.results import rate_table
from failbench.studies.peers.schemas import RUN_SCHEMA
from failbench.telemetry import RUN_SCHEMA as ALL_RUNS
from made_up_peers import SETTINGS

SCENARIOS = read_scenarios(Path(__file__).parents[3] / "data/scenarios")
OF_MODEL = [each.id for each in SCENARIOS if each.category == "model_software"][:4]
REFERENCE = pl.DataFrame([{"run_id": "reference", "kind": "failure"}], schema=RUN_SCHEMA)


def recorded(architecture="distilbert"):
    """Four pairs of a setting; the first two failing runs crashed."""
    rows = []
    for number, scenario in enumerate(OF_MODEL):
        run = dict.fromkeys(ALL_RUNS) | {
            "run_id": f"{scenario}-{architecture}",
            "architecture": architecture,
            "optimizer": "adamw",
            "scenario": scenario,
            "seed": 0,
        }
        ending = "exception" if number < 2 else "completed"
        rows.append(run | {"kind": "failure", "ending": ending})
        twin = {"kind": "twin", "ending": "completed", "run_id": f"{run['run_id']}-twin"}
        rows.append(run | twin)
    return pl.DataFrame(rows, schema=ALL_RUNS)


def verdict(run_id, issue=None, unreadable=None, peer="default_plus_plus"):
    return dict.fromkeys(VERDICT_SCHEMA) | {
        "run_id": run_id,
        "format": "inside_training",
        "peer": peer,
        "issues": [issue] if issue else [],
        "severities": ["faulty"] if issue else [],
        "confidences": [0.9] if issue else [],
        "unreadable": unreadable,
    }


def asked(runs=None, more=()):
    """Who says that every run that came to its end is faulty, and cannot read the others."""
    runs = recorded() if runs is None else runs
    rows = [
        verdict(row["run_id"], "qkv")
        if row["ending"] == "completed"
        else verdict(row["run_id"], unreadable="It ended.")
        for row in runs.to_dicts()
    ]
    verdicts = pl.DataFrame([*rows, *more], schema=VERDICT_SCHEMA)
    return asked_elsewhere(verdicts, REFERENCE, runs, SCENARIOS)


def rates(found):
    table = rate_table(found.said, found.runs, SETTINGS)
    return {(row["method"], row["metric"]): row for row in table.to_dicts()}


ALL = Asked("default_plus_plus", "distilbert-adamw").method
READ = Asked("default_plus_plus", "distilbert-adamw", read=True).method


def test_what_a_tool_could_not_read_is_not_detected_and_counts():
    row = rates(asked())[ALL, "detected"]
    assert (row["value"], row["n"]) == (0.5, 4)


def test_a_second_figure_is_of_those_runs_that_it_could_read():
    found = rates(asked())
    assert (found[READ, "detected"]["value"], found[READ, "detected"]["n"]) == (1.0, 2)
    assert (found[READ, "accuracy"]["value"], found[READ, "alarm_twin"]["n"]) == (1.0, 4)


def test_a_pair_of_which_one_run_was_not_read_is_no_pair():
    found = rates(asked())
    assert found[READ, "gain"]["value"] == 0.0
    assert found[READ, "f1"]["value"] == pytest.approx(2 / 3)


def test_each_setting_has_figures_of_its_own_and_most_that_was_read_is_first():
    of_bert = recorded("bert").with_columns(ending=pl.lit("exception"))
    found = asked(pl.concat([of_bert, recorded()]))
    methods = found.said["method"].unique(maintain_order=True).to_list()
    assert methods == [ALL, READ, Asked("default_plus_plus", "bert-adamw").method]
    assert {row["n"] for (_, name), row in rates(found).items() if name == "detected"} == {4, 2}


def test_a_tool_that_was_asked_about_a_run_of_the_reference_setting_is_judged_there():
    more = [
        verdict("reference", peer="runmedic"),
        verdict(f"{OF_MODEL[0]}-distilbert", peer="runmedic"),
    ]
    assert set(asked(more=more).said["method"]) == {ALL, READ}


def test_a_run_of_which_nothing_is_said_is_one_of_which_it_says_that_nothing_is_wrong():
    runs = recorded()
    verdicts = [verdict(run) for run in runs["run_id"]]
    table = pl.DataFrame(verdicts, schema=VERDICT_SCHEMA)
    issues = asked_elsewhere(table, REFERENCE, runs, SCENARIOS).issues
    assert issues.drop("peer", "setting").rows() == [(NOTHING, 4, 4, 0)]


def test_a_run_that_was_not_recorded_is_refused():
    with pytest.raises(BadInputError, match="asked about 'nowhere', which was not recorded"):
        asked(more=[verdict("nowhere")])
