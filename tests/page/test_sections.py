import copy
import json
from functools import cache

import polars as pl
import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.publish.page.methods import (
    CURVE_SCHEMA,
    methods_section,
    risk_curves,
)
from failbench.publish.page.reported import (
    AUDIT_SCHEMA,
    audit_section,
    counterparts,
    paper_numbers,
    reported_section,
)
from failbench.study.paper_numbers import Reported
from page_sections import ROOT


@cache
def predictions():
    files = sorted((ROOT / "data/predictions/nested_cv").glob("*.parquet"))
    return pl.concat(pl.read_parquet(file) for file in files)


@cache
def metrics():
    files = (ROOT / "data/metrics").glob("*.json")
    return {file.stem: json.loads(file.read_text()) for file in files}


@cache
def curves():
    return pl.read_csv(ROOT / "data/plots/risk_coverage.csv", schema_overrides=CURVE_SCHEMA).select(
        CURVE_SCHEMA.names()
    )


@cache
def raw_paper():
    return yaml.safe_load((ROOT / "data/reported/paper.yaml").read_text())


@cache
def paper():
    return Reported.model_validate(raw_paper())


def test_metrics_that_lack_a_method_or_a_figure_are_refused_by_name():
    without = {"19": {}, "19+keywords": {}}
    with pytest.raises(BadInputError, match=r"intervals\.json: 19\.decision_tree: is missing"):
        methods_section(predictions(), without, curves(), paper(), confidence=0.95)
    short = copy.deepcopy(metrics()["intervals"])
    del short["19"]["decision_tree"]["macro_f1"]
    with pytest.raises(BadInputError, match=r"19\.decision_tree\.macro_f1"):
        methods_section(predictions(), short, curves(), paper(), confidence=0.95)


def test_curves_with_other_points_of_coverage_are_refused():
    with pytest.raises(BadInputError, match="other points"):
        risk_curves(curves().filter((pl.col("method") != "ebm") | (pl.col("coverage") > 0.5)))


@cache
def audit():
    return pl.read_csv(ROOT / "data/plots/paper_audit.csv", schema_overrides=AUDIT_SCHEMA).select(
        AUDIT_SCHEMA.names()
    )


def test_the_audit_counts_each_claim_once():
    rows = audit_section(audit())["rows"]
    assert sorted(row["claim"] for row in rows) == sorted(audit()["claim"])
    assert {row["verdict"] for row in rows} == set(audit_section(audit())["verdicts"])


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
    table = ROOT / "src/failbench/publish/page/data/counterparts.csv"
    assert len(table.read_text().splitlines()) == 1 + len(expected)  # no path has two rows
    assert all(row.ours or row.note for row in counterparts().values())


def test_a_number_that_moves_in_the_metrics_moves_and_one_that_is_gone_is_named():
    changed = copy.deepcopy(metrics())
    changed["intervals"]["19"]["simple_rules"]["accuracy"]["value"] = 0.123
    rows = {row["path"]: row for row in reported_section(paper(), changed)}
    assert rows["claims.simple_rules_accuracy"]["ours"][0]["value"] == 0.123
    del changed["intervals"]["19"]["simple_rules"]
    with pytest.raises(BadInputError, match=r"intervals\.json: 19/simple_rules/accuracy: has no"):
        reported_section(paper(), changed)


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
            reported_section(paper(), metrics())
