import polars as pl
import pytest

from failbench.base.explanations import explained
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import PRIMARY_SET
from failbench.features.catalogue import FEATURE_SETS
from failbench.publish.page.failure import (
    NOTHING_BROKE,
    decided_sentence,
    explanations,
)
from made_up_monitored import rules

END = {"end_step": 30, "end_phase": "backward", "error": "ValueError", "message": "</script>"}


def test_nothing_broken_and_an_ending_that_decided_with_its_error_are_said():
    decided = {"decided_by": None, "decided_kind": None}
    assert decided_sentence(decided, END, pl.DataFrame(), rules()) == NOTHING_BROKE
    ending = rules().endings[0]
    decided = {"decided_by": ending.id, "decided_kind": "ending"}
    text = decided_sentence(decided, END, pl.DataFrame(), rules())
    assert text.endswith(f"{ending.statement} ValueError: </script>")


@pytest.mark.parametrize("method", ["simple_rules", "random_forest"])
def test_conditions_come_back_as_sentences_and_those_left_out_are_counted(method):
    signals = FEATURE_SETS[PRIMARY_SET][:7]
    evidence = tuple(Evidence(name, float(i), "above", 0.5) for i, name in enumerate(signals))
    made = explained([("run", "scenario")], method, [Diagnosis("unknown", 0.5, evidence)])
    section = explanations(*made)["scenario"][method]
    assert section["left_out"] == 2
    assert len(section["evidence"]) == 5
    first = 2 if method == "simple_rules" else 0
    assert f" is {first}, above 0.5." in section["evidence"][0]
