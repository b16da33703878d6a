"""How the comparisons of two methods behave when the true difference between them is known.

As in the simulation of coverage, a scenario has a probability of its own to be diagnosed right by
each method, from beta distributions (concentration 1) that a Gaussian copula ties together, since
what is hard for one method is often hard for another. Estimand: the difference of the means. The
models do not change with their training data here, so that tests which allow for that reject less
often than their level.
"""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.base.scenarios import COUNTS
from failbench.base.workers import parallel_map
from failbench.prediction.splits import make_splits
from failbench.statistics.significance import SignificanceSettings, compare_all
from prediction_fixtures import scenarios_of
from study_settings import DRAWS, TESTS

pytestmark = pytest.mark.long

STUDIES = 500
REPEATS = 10
CORRELATION = 0.5
BASE = 0.65
DIFFERENCES = (0.0, 0.1, 0.2)
PAIR = (("better", "worse"),)
SETTINGS = SignificanceSettings(feature_set="19", contrasts=PAIR, **DRAWS, **TESTS)
SCENARIOS = scenarios_of(COUNTS)


def simulated_predictions(difference: float, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    splits = make_splits(SCENARIOS, 5, REPEATS, seed).join(SCENARIOS, on="scenario")
    ties = [[1, CORRELATION], [CORRELATION, 1]]
    ranks = stats.norm.cdf(rng.multivariate_normal([0, 0], ties, SCENARIOS.height))
    tables = []
    for position, (method, rate) in enumerate((("better", BASE + difference), ("worse", BASE))):
        own = SCENARIOS.select(
            "scenario", own=pl.Series(stats.beta.ppf(ranks[:, position], rate, 1 - rate))
        )
        right = pl.Series(rng.random(splits.height)) < pl.col("own")
        tables.append(
            splits.join(own, on="scenario", maintain_order="left").with_columns(
                method=pl.lit(method),
                feature_set=pl.lit("19"),
                seed=pl.lit(0),
                prediction=pl.when(right).then("category").otherwise(pl.lit("abstain")),
            )
        )
    return pl.concat(tables)


def verdicts(difference: float, seed: int) -> dict[str, bool]:
    (found,) = compare_all(simulated_predictions(difference, seed), SETTINGS)
    assert found.ci_low is not None
    assert found.ci_high is not None
    return {
        "BCa interval covers": found.ci_low <= difference <= found.ci_high,
        "corrected t rejects": found.p <= 0.05,
        "exact McNemar rejects": found.p_mcnemar <= 0.05,
        "legacy paired t rejects": found.legacy_p <= 0.05,
        "two one-sided tests claim equivalence": found.equivalent,
        "posterior of the rope above 0.95": found.p_rope > 0.95,
    }


def test_comparisons_of_two_methods_are_reported(report):
    rates = {}
    for difference in DIFFERENCES:
        found = parallel_map(verdicts, [(difference, seed) for seed in range(STUDIES)], 2)
        for name in found[0]:
            rates[difference, name] = float(np.mean([one[name] for one in found]))
    report(
        f"Comparisons of two methods, {STUDIES} studies for each true difference",
        ("difference", "verdict", "share"),
        [(*key, rate) for key, rate in rates.items()],
    )
    for difference in DIFFERENCES:
        assert 0.9 <= rates[difference, "BCa interval covers"] <= 0.99
    # At the margin a claim of equivalence is an error; at no difference a rejection is one.
    assert rates[0.1, "two one-sided tests claim equivalence"] <= 0.06
    assert rates[0.0, "corrected t rejects"] <= 0.06
    assert rates[0.0, "exact McNemar rejects"] <= 0.06
    assert rates[0.2, "corrected t rejects"] > rates[0.1, "corrected t rejects"]
