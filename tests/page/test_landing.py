"""The first view says what metrics say, and changes with them."""

from __future__ import annotations

import pytest

from failbench.publish.page.answers import landing
from failbench.study.inputs import Scope

SCOPE = Scope(228, 76, 3, ("transformer-adamw",), 10, 5)
FINDING = "What was found."


@pytest.fixture
def shown(measured, reported):
    return lambda: landing(measured, reported, SCOPE, FINDING, majority=0.25, confidence=0.95)


def row_of(section, method):
    return next(row for row in section["rows"] if row["id"] == method)


def test_each_measured_method_has_its_estimate_and_what_the_paper_reports(shown, measured):
    section = shown()
    assert {row["id"] for row in section["rows"]} == set(measured["19"])
    assert row_of(section, "ebm")["measured"]["value"] == measured["19"]["ebm"]["accuracy"]["value"]
    assert row_of(section, "ebm")["reported"] == {"value": 0.957, "ci_low": 0.87, "ci_high": 1.0}
    assert row_of(section, "hybrid_two_way")["reported"]["value"] == 0.87
    assert section["finding"] == FINDING
    assert [row["told"] for row in section["rows"]][-1]
    measured["19"]["ebm"]["accuracy"] = {"value": 0.912, "ci_low": 0.9, "ci_high": 0.92, "n": 76}
    assert row_of(shown(), "ebm")["measured"]["value"] == 0.912


def test_scale_development_and_assumptions_are_said(shown):
    section = shown()
    assert "3,403 runs on a CPU" in section["scale"]
    caption = " ".join(section["caption"])
    for said in ("3 seeds, 10 repeats", "development", "given the true category"):
        assert said in caption
