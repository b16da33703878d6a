import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from failbench.base.errors import BadInputError
from failbench.base.method_settings import SkillLevel
from failbench.base.vocabulary import CATEGORIES
from failbench.study.estimates import Estimates
from label_audit import ALL, PAIRS, estimates, read_ratings
from made_up_scenarios import made_up_scenarios
from shared import human_baseline_people
from study_settings import INTERVALS_OF_FEW

LEVELS = {
    "novice": SkillLevel(share=0.3, accuracy=0.5),
    "intermediate": SkillLevel(share=0.5, accuracy=0.75),
    "expert": SkillLevel(share=0.2, accuracy=0.9),
}


SIZE = 15
DIFFICULTY = human_baseline_people.difficulties(np.linspace(0, 1, 76), 48)
ALIKE, FELT = (
    human_baseline_people.population(LEVELS, DIFFICULTY, coupling) for coupling in (0.0, 1.0)
)
EASE = np.array([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])


def test_difficulty_is_the_logit_of_being_wrong_and_stays_finite():
    logits = human_baseline_people.difficulties(EASE, cells=10)
    assert logits[3] == pytest.approx(0.0)
    assert logits[2] == pytest.approx(np.log(6.5 / 4.5))
    assert logits[0] == pytest.approx(np.log(10.5 / 0.5)) == -logits[5]


@pytest.mark.parametrize("coupling", [0.0, 0.5, 1.0, 2.0])
def test_every_level_keeps_its_accuracy_and_at_full_coupling_levels_differ_by_constant_logits(
    coupling,
):
    difficulty = human_baseline_people.difficulties(EASE, 48)
    people = human_baseline_people.population(LEVELS, difficulty, coupling)
    assert people.right.mean(axis=1) == pytest.approx([0.5, 0.75, 0.9])
    assert people.marginal.mean() == pytest.approx(0.705)
    if coupling == 1.0:
        ability = np.log(people.right / (1 - people.right)) + difficulty
        assert ability == pytest.approx(np.repeat(ability[:, :1], len(EASE), axis=1))


def test_spreads_of_the_mixture_are_those_worked_by_hand():
    between = 0.3 * 0.205**2 + 0.5 * 0.045**2 + 0.2 * 0.195**2
    within = 0.3 * 0.25 + 0.5 * 0.1875 + 0.2 * 0.09
    assert human_baseline_people.skill_spread(ALIKE) == pytest.approx(np.sqrt(between))
    expected = {
        "person_a_scenario": 0.705 * 0.295 / 76,
        "fold": 0.705 * 0.295 / 15,
        "one_person": between + within / 76,
        "panel": (between + within / 76) / 15,
    }
    for design in human_baseline_people.DESIGNS:
        assert human_baseline_people.spread(ALIKE, design, SIZE) == pytest.approx(
            np.sqrt(expected[design])
        ), design


@pytest.mark.parametrize("people", [ALIKE, FELT], ids=["alike", "felt"])
@pytest.mark.parametrize("design", human_baseline_people.DESIGNS)
def test_the_simulation_has_the_mean_and_the_spread_of_the_formula(people, design):
    accuracies = human_baseline_people.simulate(
        people, design, SIZE, 4000, np.random.default_rng(7)
    )
    error = accuracies.std() / np.sqrt(4000)
    assert abs(accuracies.mean() - 0.705) < 4 * error
    low, high = human_baseline_people.spread_bounds(accuracies, 0.9999)
    assert low < human_baseline_people.spread(people, design, SIZE) < high


# Raters of the labels.

SCENARIOS = made_up_scenarios(4)
Row = dict[str, object]
CONTESTS = {"contest_1": 0, "second_1": "", "contest_2": 0, "second_2": ""}
CHANGED: dict[str, Row] = {
    "unknown_0": {"rater_1": "memory_hardware", "rater_2": "memory_hardware"}
    | {"contest_2": 1, "second_2": "unknown"},
    "data_pipeline_2": {"rater_1": "model_software", "contest_1": 2, "second_1": "data_pipeline"},
    "optimization_3": {"contest_2": 2, "second_2": "model_software"},
    "memory_hardware_1": {"contest_1": 1, "second_1": "unknown"},
}
ROWS: dict[str, Row] = {
    each.id: {"scenario": each.id, "rater_1": each.category, "rater_2": each.category}
    | CONTESTS
    | CHANGED.get(each.id, {})
    for each in SCENARIOS
}
"""By scenario a row of the file; both raters miss one unknown, rater 1 one more."""


@pytest.fixture
def written(tmp_path) -> Callable[[Mapping[str, Row]], Path]:
    """Writes rows as the file of ratings."""

    def write(ratings: Mapping[str, Row]) -> Path:
        path = tmp_path / "label_raters.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, next(iter(ratings.values())))
            writer.writeheader()
            writer.writerows(ratings.values())
        return path

    return write


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rater_1": "hardware"}, r"line 19: rater_1: .*found 'hardware'"),
        ({"contest_2": 3}, r"line 19: contest_2: .*found '3'"),
        ({"second_1": "abstain", "contest_1": 1}, r"line 19: second_1: "),
        ({"contest_1": 1}, "exactly where the contest is not 0"),
        ({"contest_1": 1, "second_1": "unknown"}, "must differ from the answer"),
        ({"scenario": "unknown_0"}, "line 19: scenario: 'unknown_0' is there twice"),
        ({"scenario": "unknown_9"}, "'unknown_9' is no scenario .* unknown_9.json"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_its_line(written, change, problem):
    path = written({**ROWS, "unknown_1": ROWS["unknown_1"] | change})
    with pytest.raises(BadInputError, match=problem) as refused:
        read_ratings(path, SCENARIOS)
    assert refused.value.place.startswith(str(path))


def test_estimates_are_those_of_a_count_and_of_scikit_learn(written):
    ratings = read_ratings(written(ROWS), SCENARIOS)
    for name in ("id", "category"):
        column = "scenario" if name == "id" else name
        assert ratings[column].to_list() == [getattr(each, name) for each in SCENARIOS]
    found = Estimates(estimates(ratings, INTERVALS_OF_FEW))
    for subject, (one, other, _) in PAIRS.items():
        left, right = ratings[one], ratings[other]
        overall = found.where(subject=subject, scope=ALL)
        assert overall.value(metric="agreement") == (left == right).mean()
        assert overall.value(metric="kappa") == pytest.approx(cohen_kappa_score(left, right))
        assert overall.n(metric="kappa") == overall.n(metric="agreement") == "20"
        for category in CATEGORIES:
            of_label = ratings.filter(category=category)
            by_label = found.where(subject=subject, scope=category)
            assert by_label.value(metric="agreement") == (of_label[one] == of_label[other]).mean()
            assert by_label.n(metric="agreement") == "4"
            kappa = cohen_kappa_score(left == category, right == category)
            assert by_label.value(metric="kappa") == pytest.approx(kappa)
    agreed = found.row(subject="raters", scope="optimization", metric="kappa")
    assert (agreed["interval"], agreed["ci_low"], agreed["ci_high"]) == ("point", 1.0, 1.0)
    differing = found.row(subject="rater_1", scope="data_pipeline", metric="kappa")
    assert differing["ci_low"] < differing["value"] < 1.0
