"""Agreement of answers that were written by hand."""

import polars as pl
from agreement import AgreementSettings, estimates

EVERYONE = AgreementSettings(feature_set="19")


def answers(method: str, *given: str) -> list[dict[str, object]]:
    return [
        {
            "feature_set": "19", "method": method, "repeat": 0, "run_id": f"run_{place}",
            "scenario": f"scenario_{place}", "prediction": answer,
        }
        for place, answer in enumerate(given)
    ]  # fmt: skip


PREDICTIONS = pl.DataFrame(
    [
        *answers("ebm", "unknown", "unknown", "optimization", "abstain"),
        *answers("lightgbm", "unknown", "optimization", "optimization", "abstain"),
        *answers("random_forest", "optimization", "data_pipeline", "unknown", "unknown"),
    ]
)


def test_methods_agree_where_they_give_the_same_answer_and_abstaining_is_one():
    points = estimates(PREDICTIONS, EVERYONE)
    assert points.rows() == [
        ("ebm", "lightgbm", 0.75, 4),
        ("ebm", "random_forest", 0.0, 4),
        ("lightgbm", "random_forest", 0.0, 4),
    ]


def test_a_method_that_is_left_out_is_in_no_pair():
    settings = AgreementSettings(feature_set="19", left_out=("ebm",))
    assert estimates(PREDICTIONS, settings).select("left", "right").rows() == [
        ("lightgbm", "random_forest")
    ]
