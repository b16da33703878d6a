"""How often an interval holds what it estimates, in studies of 76 scenarios and 10 repeats.

A scenario has a probability of its own to be diagnosed right, drawn from a beta distribution whose
mean is the true accuracy; its answers in the repeats are drawn from that. The smaller the
concentration of the beta, the more the repeats of a scenario agree: at 0.5 most scenarios are
nearly always right or nearly always wrong, as those of a stable method are; at 4 they waver.
Estimands: the mean of that distribution (accuracy), and F1 of infinitely many such scenarios with
the study's share of each category (F1).
"""

import numpy as np
import pytest

from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import ANSWERS, CATEGORIES
from failbench.base.workers import parallel_map
from failbench.statistics.bootstrap import single_seeds
from failbench.statistics.intervals import scenario_intervals
from failbench.statistics.metrics import Metric, metrics_for
from failbench.statistics.scenario_values import ScenarioAnswers
from study_settings import INTERVALS

pytestmark = pytest.mark.long

STUDIES = 2000
REPEATS = 10
RATES = (0.6, 0.9, 0.957)
CONCENTRATIONS = (0.5, 4.0)

METRICS = tuple(
    one
    for one in metrics_for(CATEGORIES)
    if one.name in {"accuracy", "macro_f1"} or one.name.startswith("f1_")
)
ACCURACY = METRICS[:1]


def simulated_answers(rate: float, concentration: float, seed: int) -> ScenarioAnswers:
    """A study; a wrong answer is any of the other categories."""
    rng = np.random.default_rng(seed)
    shares = {}
    for position, (category, count) in enumerate(COUNTS.items()):
        own = rng.beta(concentration * rate, concentration * (1 - rate), (count, 1))
        right = rng.random((count, REPEATS)) < own
        elsewhere = (position + rng.integers(1, len(COUNTS), (count, REPEATS))) % len(COUNTS)
        answers = np.where(right, position, elsewhere)
        shares[str(category)] = (answers[..., None] == np.arange(len(ANSWERS))).astype(float)
    return ScenarioAnswers(shares, single_seeds(COUNTS.values()))


def true_values(rate: float, metrics: tuple[Metric, ...]) -> dict[str, float]:
    """What the metrics estimate: their values on the expected confusion."""
    counts = np.array(list(COUNTS.values()), dtype=float)
    confusion = np.full((len(COUNTS), len(ANSWERS)), (1 - rate) / (len(COUNTS) - 1))
    confusion[:, len(COUNTS) :] = 0
    np.fill_diagonal(confusion, rate)
    expected = (confusion * counts[:, None])[None]
    return {one.name: float(one.score(expected, CATEGORIES)) for one in metrics}


def covers(rate, concentration, metrics, seed):
    found = scenario_intervals(simulated_answers(rate, concentration, seed), metrics, INTERVALS)
    truth = true_values(rate, metrics)
    return {name: one.ci_low <= truth[name] <= one.ci_high for name, one in found.items()}


def coverage(rate, concentration, metrics, studies):
    tasks = [(rate, concentration, metrics, seed) for seed in range(studies)]
    covered = parallel_map(covers, tasks, 2)
    return {one.name: float(np.mean([study[one.name] for study in covered])) for one in metrics}


def test_the_true_f1_is_that_of_the_expected_confusion():
    assert true_values(1.0, METRICS) == dict.fromkeys((one.name for one in METRICS), 1.0)


@pytest.mark.parametrize("concentration", CONCENTRATIONS)
@pytest.mark.parametrize("rate", RATES)
def test_the_accuracy_interval_covers_the_accuracy_over_all_scenarios(rate, concentration, report):
    found = coverage(rate, concentration, ACCURACY, STUDIES)["accuracy"]
    report(
        f"Coverage of 95 % intervals of accuracy, {STUDIES} studies",
        ("accuracy", "concentration", "coverage"),
        [(rate, concentration, found)],
    )
    assert found >= 0.93


def test_f1_intervals_are_reported(report):
    studies = STUDIES // 4
    rows = [
        (rate, name, value)
        for rate in RATES
        for name, value in coverage(rate, 0.5, METRICS[1:], studies).items()
    ]
    report(
        f"Coverage of 95 % intervals of F1, {studies} studies, concentration 0.5",
        ("accuracy", "score", "coverage"),
        rows,
    )
    assert all(0.5 < value <= 1 for _, _, value in rows)
