import numpy as np
import polars as pl
import pytest

from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, POOLED
from failbench.base.vocabulary import CATEGORIES
from generalization import ASKED, GAIN, estimates
from made_up_studies import ARCHITECTURES, SCENARIOS, made_up_studies
from study_settings import METHOD_INTERVALS

N = SCENARIOS * len(CATEGORIES)
BOUNDS = ("value", "ci_low", "ci_high")


@pytest.fixture(scope="module")
def predictions() -> pl.DataFrame:
    return made_up_studies()


def estimated(predictions: pl.DataFrame) -> pl.DataFrame:
    return estimates(predictions, METHOD_INTERVALS)


@pytest.fixture(scope="module")
def table(predictions: pl.DataFrame) -> pl.DataFrame:
    return estimated(predictions)


def row(table: pl.DataFrame, study: str, metric: str = "accuracy") -> dict[str, object]:
    (found,) = table.filter(study=study, metric=metric).to_dicts()
    return found


def scenario_means(predictions: pl.DataFrame, *study: str) -> np.ndarray:
    of_study = predictions.filter(pl.col("study").is_in(study)) if study else predictions
    right = (pl.col("prediction") == pl.col("category")).mean()
    return of_study.group_by("scenario").agg(right=right).sort("scenario")["right"].to_numpy()


def test_a_scenario_counts_once_however_many_runs_it_has_or_lacks(table, predictions):
    accuracy = row(table, POOLED)
    assert (accuracy["n"], accuracy["runs"]) == (N, 2 * N * len(ARCHITECTURES))
    again = predictions.filter(study=POOLED).with_columns(run_id=pl.format("{}-again", "run_id"))
    more = row(estimated(pl.concat([predictions, again])), POOLED)
    assert more["runs"] == 2 * accuracy["runs"]
    assert [more[name] for name in BOUNDS] == pytest.approx([accuracy[name] for name in BOUNDS])
    lacking = (pl.col("scenario") == "unknown_0") & (pl.col("architecture") == "gru")
    fewer = predictions.filter(~lacking)
    rates = estimated(fewer)
    left_out = row(rates, LEFT_OUT)
    assert (left_out["n"], left_out["runs"]) == (N, 2 * N * len(ARCHITECTURES) - 2)
    for study in (POOLED, LEFT_OUT, KNOWN_SCENARIOS):
        assert row(rates, study)["value"] == pytest.approx(scenario_means(fewer, study).mean())


def test_gain_is_the_paired_difference_over_scenarios_of_methods_asked_of_both(table, predictions):
    gain = row(table, KNOWN_SCENARIOS, GAIN)
    known, new = (scenario_means(predictions, study) for study in (KNOWN_SCENARIOS, LEFT_OUT))
    assert (gain["value"], gain["n"]) == (pytest.approx((known - new).mean()), N)
    assert gain["ci_low"] < gain["value"] < gain["ci_high"]
    fewer = predictions.filter(pl.col("study") != KNOWN_SCENARIOS)
    both = estimated(pl.concat([predictions, fewer.with_columns(method=pl.lit("invariants"))]))
    assert set(both.filter(method="invariants")["study"]) == set(ASKED) - {KNOWN_SCENARIOS}
    assert both.filter(pl.col("method") != "invariants").equals(table)
