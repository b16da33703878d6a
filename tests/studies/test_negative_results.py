import copy
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from failbench.base.errors import BadInputError
from negative_results import NO_LONGER, filled, read_metrics
from shared.negative_results import FEWEST, NegativeResult, NegativeResults


def test_a_metric_that_turns_a_sentence_false_takes_its_place(repository, monkeypatch):
    text = (repository / "data/reported/negative_results.yaml").read_text(encoding="utf-8")
    declared = NegativeResults.model_validate(yaml.safe_load(text))
    monkeypatch.chdir(repository)
    metrics = {name: read_metrics(name, keys) for name, keys in declared.keys_by_file().items()}
    rows = filled(declared, metrics)
    assert not [row for row in rows if "{" in row["measured"] or NO_LONGER in row["concluded"]]
    changed = copy.deepcopy(metrics)
    contrast = changed["significance"]["contrasts"]["improved_rules_less_simple_rules"]
    contrast["difference"]["ci_high"] = 0.01
    (row,) = (row for row in filled(declared, changed) if NO_LONGER in row["concluded"])
    assert row["concluded"] == (
        f"{NO_LONGER} significance.contrasts.improved_rules_less_simple_rules.difference.ci_high "
        "< 0 is not so, with 0.01 on the left and 0 on the right."
    )


def test_a_metric_that_is_gone_stops_the_stage(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data/metrics").mkdir(parents=True)
    Path("data/metrics/lead_time.json").write_text('{"alarm": {}}', encoding="utf-8")
    with pytest.raises(BadInputError, match=r"lead_time\.json: alarm\.diagnosed: is missing"):
        read_metrics("lead_time", {"alarm.diagnosed"})


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


TYPED = "is typed; name the metric that it comes from"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"measured": "Right in 27.9 of {intervals.19.ebm.accuracy}."}, TYPED),
        ({"measured": "It gains 3 points over {intervals.19.ebm.accuracy}."}, TYPED),
        ({"measured": "It did not help at all, we think."}, "measured must name a metric"),
        ({"holds": []}, "holds"),
    ],
)
def test_a_typed_number_and_a_claim_without_metric_or_condition_are_refused(changed, problem):
    paths = set(NegativeResult(**entry()).paths())
    assert paths == {"intervals.19.ebm.accuracy", "significance.rate"}
    with pytest.raises(ValidationError, match=problem):
        NegativeResult.model_validate(entry(**changed))
    with pytest.raises(ValidationError, match="'weighed' is the name of two entries"):
        NegativeResults.model_validate({"entries": [entry()] * FEWEST})
