"""What counts as foreseen, and for the right reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from failbench.errors import BadInputError
from failbench.studies.preflight.looked import Answer, Looked, looked_at

INDEX = ("crash", "token_ids_beyond_table", "IndexError: index out of range in self")


@pytest.fixture
def scenario(repository):
    from failbench.scenarios import read_scenarios

    scenarios = read_scenarios(repository / "data/scenarios")
    return next(each for each in scenarios if each.id == "added_tokens")


def answer_of(*said, step=130, reached=True):
    return Answer(step, reached, said, 0.2, 0.02, step, "IndexError")


def looked_of(scenario, *said, **changes):
    looked = Looked(
        scenario=scenario,
        cause="token_ids_beyond_table",
        ending="exception",
        error_type="IndexError",
        error_text="index out of range in self",
        failing={"start": answer_of(step=0), "onset": answer_of(*said)},
        twin={"start": answer_of(step=0), "onset": answer_of()},
        failure_step=130,
    )
    return replace(looked, **changes)


def test_a_foreseen_crash_counts_with_category_cause_and_text(scenario):
    looked = looked_of(scenario, INDEX)
    assert looked.foreseen("onset")
    assert looked.right_category("onset")
    assert looked.right_cause("onset")
    assert looked.right_text("onset")
    assert not looked.foreseen("start")


def test_another_cause_of_the_same_category_is_the_right_category_alone(scenario):
    looked = looked_of(scenario, ("crash", "label_outside_classes", "IndexError: Target 600"))
    assert looked.right_category("onset")
    assert not looked.right_cause("onset")
    assert not looked.right_text("onset")


def test_only_the_first_crash_that_is_foreseen_counts(scenario):
    looked = looked_of(scenario, ("crash", "shapes_mismatch", "RuntimeError: no"), INDEX)
    assert looked.foreseen("onset")
    assert not looked.right_category("onset")


def test_a_warning_foresees_no_crash_and_may_name_a_cause(scenario):
    looked = looked_of(scenario, ("warning", "token_ids_beyond_table", ""))
    assert not looked.foreseen("onset")
    answer = looked.failing["onset"]
    assert answer.names("token_ids_beyond_table", ("warning",))
    assert not answer.names("token_ids_beyond_table", ("crash",))
    assert not answer.names("labels_wrong", ("warning",))


def test_refused_memory_is_a_group_whatever_raises_it(scenario):
    refused = looked_of(
        scenario, error_type="OSError", error_text="[Errno 12] Cannot allocate memory"
    )
    assert refused.group == "out of memory"
    assert looked_of(scenario).group == "IndexError"


def test_a_run_may_end_sooner_or_later_than_it_was_recorded(scenario):
    ended = replace(answer_of(INDEX), reached=False)
    looked = looked_of(scenario)
    assert not replace(looked, failing={"failure": ended}).ended_sooner  # as reading fails in it
    sooner = replace(looked, failing={"failure": replace(ended, compared_steps=120)})
    assert sooner.ended_sooner
    assert not sooner.ended_later
    later = replace(looked, failing={"failure": replace(answer_of(), error_type=None)})
    assert later.ended_later
    assert not later.ended_sooner


def test_a_run_without_an_answer_is_named(repository):
    from failbench.params import read_section
    from failbench.prediction.slices import ReferenceStudy
    from failbench.preflighted.answers import ANSWER_SCHEMA
    from failbench.scenarios import read_scenarios
    from failbench.telemetry import read_telemetry

    reference = read_section("nested_cv", ReferenceStudy, repository / "params.yaml")
    with pytest.raises(BadInputError, match="has no answer"):
        looked_at(
            ANSWER_SCHEMA.to_frame(),
            read_telemetry(repository / "data/telemetry"),
            read_scenarios(repository / "data/scenarios"),
            reference,
        )
