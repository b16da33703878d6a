import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.crashes.cases import ANSWER_TABLE, CrashPredictionSettings, read_cases
from failbench.crashes.question import ARMS
from failbench.statistics.settings import read_with_statistics
from shared.crash_scores import (
    COMBINED,
    DRY_RUN,
    LENGTH,
    RULES,
    collect,
    contrasts,
    estimates,
)
from study_settings import INTERVALS_OF_FEW


def test_answers_are_joined_learnt_from_development_alone_and_to_the_same_question(repository):
    params = repository / "params.yaml"
    settings = read_with_statistics("crash_prediction", CrashPredictionSettings, params)
    cases = read_cases(repository / "data/notebooks", settings.control_seed)
    recorded = ANSWER_TABLE.read(repository / "data/crashes/answers.parquet")
    answers = collect(cases, recorded, "answers")
    for arm in ARMS[1:]:
        parts = (answers[name, arm] for name in (DRY_RUN, RULES, COMBINED))
        for run, rule, joined in zip(*parts, strict=True):
            assert joined == (rule if run.crash is None else run)
    assert answers[COMBINED, "code"] == answers[RULES, "code"]
    # without any test notebook the threshold of the length is the same
    (reason,) = {answer.reason for answer in answers[LENGTH, "code"]}
    assert "development" in reason
    again = collect([case for case in cases if case.part == "development"], recorded, "answers")
    assert {answer.reason for answer in again[LENGTH, "code"]} == {reason}
    of_pylint = pl.when(predictor="pylint")
    changed = recorded.with_columns(asked=of_pylint.then(pl.lit("0" * 64)).otherwise("asked"))
    with pytest.raises(BadInputError, match="pylint has no answer"):
        collect(cases, changed, "answers")


def rows(predictor, arm, crashing, mended):
    """Answers (crash, exception) about the crashing notebook of each pair, and the mended one."""
    made = [
        (f"pair {number:02d}", version, version == "crashing", *answer)
        for number, answers in enumerate(zip(crashing, mended, strict=True))
        for version, answer in zip(("crashing", "mended"), answers, strict=True)
    ]
    columns = ["pair", "version", "crashed", "crash", "exception"]
    table = pl.DataFrame(made, columns, orient="row", infer_schema_length=None)
    raised = pl.when("crashed").then(pl.lit("KeyError"))
    return table.with_columns(predictor=pl.lit(predictor), arm=pl.lit(arm), raised=raised)


YES, OTHER, NO, UNSURE = (True, "KeyError"), (True, "ValueError"), (False, None), (None, None)


def scores(*answers):
    table = estimates(rows("one", "code", *answers), INTERVALS_OF_FEW)
    return {row["metric"]: row for row in table.rows(named=True)}


def test_shares_are_of_what_they_say_with_intervals_that_draw_pairs_and_not_notebooks():
    found = scores([YES, YES, OTHER, NO, UNSURE], [NO, NO, YES, NO, UNSURE])
    expected = {
        "accuracy": 7 / 10,
        "precision": 3 / 4,
        "recall": 3 / 5,
        "f1": 2 * 3 / (3 + 1 + 5),
        "alarms": 1 / 5,
        "named": 2 / 5,
        "named_accuracy": 6 / 10,
        "answered": 8 / 10,
        "accuracy_answered": 6 / 8,
    }
    assert {metric: row["value"] for metric, row in found.items()} == pytest.approx(expected)
    # of no foreseen crash there is no precision, and nought has an interval: Wilson's, of 12
    found = scores([NO] * 12, [NO] * 12)
    assert (found["precision"]["value"], found["accuracy"]["value"]) == (None, 0.5)
    recall = found["recall"]
    assert (recall["value"], recall["ci_high"]) == (0, pytest.approx(0.2425, abs=1e-3))
    # where both of a pair are right or both wrong, there are as many units as pairs: of 40
    # independent units the normal interval reaches .155 to either side, of 80 .110
    row = scores([YES] * 20 + [NO] * 20, [NO] * 20 + [YES] * 20)["accuracy"]
    assert row["value"] == 0.5
    assert row["ci_high"] - row["ci_low"] == pytest.approx(0.31, abs=0.05)


def test_arms_are_compared_on_the_same_notebooks_where_a_predictor_was_asked_in_both():
    table = pl.concat(
        [
            rows("one", "code", [YES] * 5 + [NO] * 15, [NO] * 20),
            rows("one", "all", [YES] * 15 + [OTHER] * 4 + [NO], [NO] * 18 + [YES] * 2),
            rows("two", "code", [YES] * 20, [NO] * 20),
        ]
    )
    found = contrasts(table, INTERVALS_OF_FEW).rows(named=True)
    compared = {row["metric"]: row for row in found}
    assert {row["predictor"] for row in found} == {"one"}
    assert {row["contrast"] for row in found} == {"all over code"}
    assert set(compared) == {"accuracy", "named_accuracy"}
    gain, named = compared["accuracy"], compared["named_accuracy"]
    assert gain["difference"] == pytest.approx((19 - 5 - 2) / 40)
    assert (gain["left_only"], gain["right_only"]) == (14, 2)
    assert gain["p"] == pytest.approx(2 * (1 + 16 + 120) / 2**16)  # two-sided binomial, 2 of 16
    assert gain["ci_low"] < gain["difference"] < gain["ci_high"]
    # a crash with another name is not told right where names count
    assert named["difference"] == pytest.approx((15 - 5 - 2) / 40)
    assert (named["left_only"], named["right_only"]) == (10, 2)
