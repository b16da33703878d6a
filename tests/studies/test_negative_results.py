"""The declaration and what is made of it, over what is committed and over changed metrics."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from failbench.base.errors import BadInputError
from negative_results import NO_LONGER, filled, read_metrics
from shared.negative_results import FEWEST, NegativeResult, NegativeResults


@pytest.fixture(scope="module")
def declared(repository):
    text = (repository / "data/reported/negative_results.yaml").read_text(encoding="utf-8")
    return NegativeResults.model_validate(yaml.safe_load(text))


@pytest.fixture
def metrics(repository, declared, monkeypatch):
    monkeypatch.chdir(repository)
    return {name: read_metrics(name, keys) for name, keys in declared.keys_by_file().items()}


def entry(**changed):
    return {
        "name": "weighed",
        "title": "Weighed evidence",
        "tried": "Rules that weigh what they see.",
        "expected": "More evidence for each answer.",
        "measured": "Right in {intervals.19.ebm.accuracy} % of all.",
        "concluded": "No gain of it is shown at all.",
        "holds": ["intervals.19.ebm.accuracy < significance.rate"],
        "source": "methods",
        **changed,
    }


def test_no_placeholder_is_left_and_every_row_has_its_n(declared, metrics):
    for each, row in zip(declared.entries, filled(declared, metrics), strict=True):
        assert "{" not in row["measured"] + row["concluded"]
        assert row["n"] != "–" or "|count}" in each.measured


def test_a_metric_that_turns_a_sentence_false_takes_its_place(declared, metrics):
    changed = copy.deepcopy(metrics)
    contrast = changed["significance"]["contrasts"]["improved_rules_less_simple_rules"]
    contrast["difference"]["ci_high"] = 0.01
    (row,) = (row for row in filled(declared, changed) if NO_LONGER in row["concluded"])
    assert row["concluded"] == (
        f"{NO_LONGER} significance.contrasts.improved_rules_less_simple_rules.difference.ci_high "
        "< 0 is not so, with 0.01 on the left and 0 on the right."
    )


def test_no_conclusion_is_left_that_the_metrics_do_not_bear_out(repository):
    page = (repository / "docs/negative_results.md").read_text(encoding="utf-8")
    assert NO_LONGER not in page


def test_a_metric_that_is_gone_stops_the_stage(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data/metrics").mkdir(parents=True)
    Path("data/metrics/lead_time.json").write_text('{"alarm": {}}', encoding="utf-8")
    with pytest.raises(BadInputError, match=r"lead_time\.json: alarm\.diagnosed: is missing"):
        read_metrics("lead_time", {"alarm.diagnosed"})


def test_every_table_that_is_named_is_there(repository, declared):
    tables = {path.stem for path in (repository / "paper/tables").glob("*/*.typ")}
    named = {name for each in declared.entries for name in each.source.split(", ")}
    assert named <= tables


def test_sentences_and_conditions_name_metrics():
    assert set(NegativeResult(**entry()).paths()) == {
        "intervals.19.ebm.accuracy",
        "significance.rate",
    }


@pytest.mark.parametrize(
    "measured",
    [
        "Right in 27.9 of {intervals.19.ebm.accuracy}.",
        "Right in 28 % and {intervals.19.ebm.accuracy}.",
        "It gains 3 points over {intervals.19.ebm.accuracy}.",
    ],
)
def test_a_typed_number_is_refused(measured):
    with pytest.raises(ValidationError, match="is typed; name the metric that it comes from"):
        NegativeResult.model_validate(entry(measured=measured))


def test_an_outcome_without_a_metric_and_one_without_a_condition_are_refused():
    with pytest.raises(ValidationError, match="measured must name a metric"):
        NegativeResult.model_validate(entry(measured="It did not help at all, we think."))
    with pytest.raises(ValidationError, match="holds"):
        NegativeResult.model_validate(entry(holds=[]))


def test_two_entries_of_a_name_are_refused():
    with pytest.raises(ValidationError, match="'weighed' is the name of two entries"):
        NegativeResults.model_validate({"entries": [entry()] * FEWEST})
