import copy
import json
from functools import cache

import polars as pl
import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.publish.page.reported import (
    AUDIT_SCHEMA,
    counterparts,
    paper_numbers,
    reported_section,
)
from failbench.study.paper_numbers import Reported
from page_sections import ROOT


@cache
def raw_paper():
    return yaml.safe_load((ROOT / "data/reported/paper.yaml").read_text())


@cache
def paper():
    return Reported.model_validate(raw_paper())


@cache
def metrics():
    files = (ROOT / "data/metrics").glob("*.json")
    return {file.stem: json.loads(file.read_text()) for file in files}


@cache
def audit():
    return pl.read_csv(ROOT / "data/plots/paper_audit.csv", schema_overrides=AUDIT_SCHEMA).select(
        AUDIT_SCHEMA.names()
    )


def leaves(value, path=()):
    """Numbers and lists of numbers, by path, in the file itself."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif not isinstance(value, str):
        yield path


def test_every_number_of_the_file_is_an_entry_and_nothing_else_is():
    expected = set()
    for path in leaves(raw_paper()):
        name = ".".join(path)
        expected.add(name.removesuffix(".value") if path[0] == "claims" else name)
    assert {number["path"] for number in paper_numbers(paper())} == expected
    assert set(counterparts()) == expected


def test_a_number_that_moves_in_the_metrics_moves_and_one_that_is_gone_is_named():
    changed = copy.deepcopy(metrics())
    changed["intervals"]["19"]["simple_rules"]["accuracy"]["value"] = 0.123
    rows = {row["path"]: row for row in reported_section(paper(), changed, audit())["rows"]}
    assert rows["claims.simple_rules_accuracy"]["ours"][0]["value"] == 0.123
    del changed["intervals"]["19"]["simple_rules"]
    with pytest.raises(BadInputError, match=r"intervals\.json: 19/simple_rules/accuracy: has no"):
        reported_section(paper(), changed, audit())


def test_a_number_without_a_row_and_a_row_without_a_number_are_refused(monkeypatch):
    scenarios = counterparts()["claims.scenarios"]
    without = {path: row for path, row in counterparts().items() if row != scenarios}
    more = {**counterparts(), "claims.invented": scenarios}
    for rows, problem in (
        (without, r"claims\.scenarios: has no row"),
        (more, r"claims\.invented: is no number"),
    ):
        monkeypatch.setattr("failbench.publish.page.reported.counterparts", lambda rows=rows: rows)
        with pytest.raises(BadInputError, match=problem):
            reported_section(paper(), metrics(), audit())
