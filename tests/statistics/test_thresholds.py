import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.hybrid import Hybrid
from failbench.prediction.hybrids import compose
from failbench.prediction.nested_cv import nested_cv
from failbench.statistics import thresholds
from made_up import made_up_predictions, small_predictions
from study_settings import IMPROVED_RULES


@pytest.fixture(scope="module")
def table(out_of_memory) -> pl.DataFrame:
    """Runs with memory errors of every confidence, conflicting signals and missing metrics."""
    first = pl.col("scenario").str.ends_with("_0")
    of_memory = pl.col("category") == "memory_hardware"
    raised = pl.col("error_type").is_not_null()
    conflict = pl.lit("CUDA out of memory: mat1 and mat2 shapes cannot be multiplied")
    missing = pl.when(of_memory & first).then(None)
    return out_of_memory.with_columns(
        error_message=pl.when(raised & first & ~of_memory)
        .then(conflict)
        .otherwise("error_message"),
        peak_memory=missing.otherwise("peak_memory"),
        memory_at_failure=missing.otherwise("memory_at_failure"),
    )


def test_answers_at_another_tau_are_those_of_a_refit(table, successes, one_repeat):
    features = {"19": FEATURE_SETS["19"]}

    def refit(tau: float) -> pl.DataFrame:
        settings = IMPROVED_RULES.model_copy(update={"tau": tau})
        return nested_cv(table, successes, one_repeat, "improved_rules", settings, features, seed=5)

    stored = refit(0.6)
    assert set(stored["reason"]) == {None, "low_confidence", "conflict", "missing"}
    answered = []
    for tau in (0.05, 0.3, 0.45, 0.6, 0.9):
        committed = refit(tau)
        assert thresholds.at_threshold(stored, tau).equals(committed)
        answered.append((committed["prediction"] != "abstain").sum())
    assert len(set(answered)) > 2


def test_a_threshold_given_run_by_run_is_applied_run_by_run_and_must_be_above_zero():
    predictions = made_up_predictions().with_columns(
        threshold=pl.when(pl.col("repeat") == 0).then(0.9).otherwise(0.4)
    )
    committed = thresholds.at_threshold(predictions, pl.col("threshold")).drop("threshold")
    for repeat, tau in ((0, 0.9), (1, 0.4)):
        expected = thresholds.at_threshold(predictions.drop("threshold").filter(repeat=repeat), tau)
        assert committed.filter(repeat=repeat).equals(expected)
    # nothing is known of confidence zero
    with pytest.raises(ValueError, match="must be above zero"):
        thresholds.at_threshold(predictions, 0.0)


def by_confidence() -> pl.DataFrame:
    """From the surest to the least sure: right, right, wrong, right, wrong."""
    return small_predictions(
        category=["optimization"] * 5,
        prediction=["optimization", "optimization", "unknown", "optimization", "unknown"],
        confidence=[0.9, 0.8, 0.6, 0.5, 0.4],
    )


@pytest.mark.parametrize(
    ("precision", "found"),
    [
        (1.0, (0.7, 1.0, 0.4)),
        (0.75, (0.5, 0.75, 0.8)),
        (0.6, (0.1, 0.6, 1.0)),
        (0.61, (0.5, 0.75, 0.8)),
    ],
)
def test_the_lowest_threshold_that_reaches_the_precision_is_taken_if_any_does(precision, found):
    taus = np.arange(1, 11) / 10
    (row,) = thresholds.lowest_thresholds(by_confidence(), taus, precision, ("repeat",)).rows()
    assert row == (0, *map(pytest.approx, found))
    wrong = by_confidence().with_columns(category=pl.lit("data_pipeline"))
    assert thresholds.lowest_thresholds(wrong, taus, precision, ("repeat",)).rows() == [
        (0, None, None, None)
    ]


def made_up_study(accuracy: float, runs: int, seed: int) -> pl.DataFrame:
    predictions = made_up_predictions(accuracy, repeats=2, scenarios=6, runs=runs, seed=seed)
    return predictions.with_columns(study=pl.lit("nested_cv"))


def made_up_rules(runs: int = 1) -> pl.DataFrame:
    """Rules that abstain below 0.6, and from some of the others for another reason."""
    rules = made_up_study(0.7, runs, seed=0).with_columns(
        reason=pl.when(pl.int_range(pl.len()) % 7 == 0).then(pl.lit("conflict"))
    )
    return thresholds.at_threshold(rules, 0.6)


def made_up_members(runs: int = 1) -> dict[str, pl.DataFrame]:
    return {
        "classifier": made_up_study(0.6, runs, seed=1),
        "human": made_up_study(0.8, runs, seed=2),
    }


@pytest.fixture(scope="module")
def grid() -> thresholds.RoutedGrid:
    return thresholds.routed_grid(made_up_rules(), made_up_members(), 0.25)


@pytest.mark.parametrize("runs", [1, 3])
def test_every_pair_routes_as_the_composed_hybrid_does(runs: int):
    rules, members = made_up_rules(runs), made_up_members(runs)
    shares = thresholds.routed_grid(rules, members, 0.25).shares()
    low, high = thresholds.pairs_of_thresholds(0.25)
    for position, (classifier_from, rules_from) in enumerate(zip(low, high, strict=True)):
        hybrid = Hybrid(None, None, None, rules_from, classifier_from)
        composed = compose(
            "hybrid", hybrid, thresholds.at_threshold(rules, thresholds.ROUNDING), members
        )
        expected = [(composed["route"] == route).mean() for route in thresholds.ROUTES]
        wrong = (composed["prediction"] != composed["category"]).mean()
        assert shares[:, position] == pytest.approx([*expected, wrong])


def test_at_or_above_tau_the_grid_is_the_hybrid_of_stored_abstentions(grid):
    members = made_up_members()
    composed = compose("hybrid", Hybrid(None, None, None, 0.75, 0.5), made_up_rules(), members)
    shares = grid.shares()[:, grid.position(0.5, 0.75)]
    assert shares[0] == pytest.approx((composed["route"] == "rules").mean())
    assert shares[thresholds.WRONG] == pytest.approx(
        (composed["prediction"] != composed["category"]).mean()
    )
    short = {**members, "human": members["human"].head(5)}
    with pytest.raises(BadInputError, match="runs that the rules answered are missing"):
        thresholds.routed_grid(made_up_rules(), short, 0.25)


def test_a_scenario_counts_once_whatever_its_runs():
    rules, members = made_up_rules(), made_up_members()

    def again(table: pl.DataFrame) -> pl.DataFrame:
        first = table.filter(pl.col("scenario").str.ends_with("_0"))
        return pl.concat([table, first.with_columns(run_id=pl.col("run_id") + "_again")])

    once = thresholds.routed_grid(rules, members, 0.25).shares()
    more = {route: again(member) for route, member in members.items()}
    assert thresholds.routed_grid(again(rules), more, 0.25).shares() == pytest.approx(once)


def test_weights_are_how_often_scenarios_were_drawn(grid):
    rng = np.random.default_rng(0)
    weights = [rng.integers(0, 3, (4, n)).astype(float) for n in grid.outcomes.sizes]
    shares = grid.shares(weights)
    assert shares.shape == (4, 4, len(grid.rules_from))
    parts = list(grid.outcomes.values.values())
    for row in range(4):
        drawn = np.concatenate(
            [
                np.repeat(part, counts[row].astype(int), axis=0)
                for part, counts in zip(parts, weights, strict=True)
            ]
        )
        assert shares[row] == pytest.approx(drawn.mean(axis=0))


def test_halves_are_halves_and_an_odd_scenario_goes_to_either():
    rng = np.random.default_rng(0)
    assert set(thresholds.random_half(rng, 8, 50).sum(axis=1)) == {4}
    assert set(thresholds.random_half(rng, 7, 50).sum(axis=1)) == {3, 4}
    assert thresholds.random_half(rng, 8, 500).mean(axis=0) == pytest.approx(
        np.full(8, 0.5), abs=0.1
    )
