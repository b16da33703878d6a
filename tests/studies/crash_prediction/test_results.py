"""Results: counts by pair, shares of them, and differences between arms."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.crash_prediction.collected import COLLECTED
from failbench.studies.crash_prediction.comparisons import contrasts
from failbench.studies.crash_prediction.counted import COUNTS, count
from failbench.studies.crash_prediction.results import estimates
from failbench.studies.crash_prediction.tables import cells_of

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, seed=0, wilson_from=0.9, wilson_below=10
)


def rows(predictor, arm, crashing, mended):
    """Answers (crash, exception) about the crashing notebook of each pair, and the mended one."""
    made = []
    for number, answers in enumerate(zip(crashing, mended, strict=True)):
        for version, (crash, exception) in zip(("crashing", "mended"), answers, strict=True):
            crashed = version == "crashing"
            made.append(
                {
                    "predictor": predictor,
                    "arm": arm,
                    "pair": f"pair {number:02d}",
                    "version": version,
                    "part": "test",
                    "library": "numpy",
                    "misuse": "key",
                    "difficulty": "easy",
                    "crashed": crashed,
                    "raised": "KeyError" if crashed else None,
                    "crash": crash,
                    "exception": exception,
                    "reason": "",
                }
            )
    return pl.DataFrame(made, schema=COLLECTED)


YES, OTHER, NO, UNSURE = (True, "KeyError"), (True, "ValueError"), (False, None), (None, None)


def test_counts_of_a_pair_say_what_was_foreseen_named_and_answered():
    (counted,) = count(rows("one", "code", [YES, OTHER, UNSURE], [NO, YES, UNSURE]))
    by_name = dict(zip(COUNTS, counted.counts.T.tolist(), strict=True))
    assert by_name == {
        "hits": [1, 1, 0],
        "alarms": [0, 1, 0],
        "named": [1, 0, 0],
        "silent": [1, 0, 1],
        "answered": [2, 2, 0],
        "answered_right": [2, 1, 0],
        "asked": [2, 2, 2],
    }


def test_shares_are_of_what_they_say():
    table = estimates(
        count(rows("one", "code", [YES, YES, OTHER, NO, UNSURE], [NO, NO, YES, NO, UNSURE])),
        SETTINGS,
    )
    values = {metric: row["value"] for (_, _, metric), row in cells_of(table).items()}
    assert values == pytest.approx(
        {
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
    )


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    rng = np.random.default_rng(0)
    drawn = [[YES if each else NO for each in rng.random(30) < share] for share in (0.7, 0.2)]
    cells = cells_of(estimates(count(rows("one", "code", *drawn)), SETTINGS))
    precision, recall, f1 = (
        cells["one", "code", metric]["value"] for metric in ("precision", "recall", "f1")
    )
    assert f1 == pytest.approx(2 / (1 / precision + 1 / recall))


def test_of_no_foreseen_crash_there_is_no_precision_and_nought_has_an_interval():
    cells = cells_of(estimates(count(rows("one", "code", [NO] * 12, [NO] * 12)), SETTINGS))
    assert cells["one", "code", "precision"]["value"] is None
    recall = cells["one", "code", "recall"]
    assert recall["value"] == 0
    assert recall["ci_high"] == pytest.approx(0.2425, abs=1e-3)  # Wilson's, of 12
    assert cells["one", "code", "accuracy"]["value"] == 0.5


def test_intervals_draw_pairs_and_not_notebooks():
    """Where both of a pair are right or both wrong, there are as many units as pairs."""
    half = [YES] * 20 + [NO] * 20
    opposite = [NO] * 20 + [YES] * 20
    together = cells_of(estimates(count(rows("one", "code", half, opposite)), SETTINGS))
    row = together["one", "code", "accuracy"]
    assert row["value"] == 0.5
    # of 40 independent units the normal interval reaches .155 to either side, of 80 .110
    assert row["ci_high"] - row["ci_low"] == pytest.approx(0.31, abs=0.05)


@pytest.fixture(scope="module")
def compared():
    table = pl.concat(
        [
            rows("one", "code", [YES] * 5 + [NO] * 15, [NO] * 20),
            rows("one", "all", [YES] * 15 + [OTHER] * 4 + [NO], [NO] * 18 + [YES] * 2),
            rows("two", "code", [YES] * 20, [NO] * 20),
        ]
    )
    found = contrasts(table, count(table), SETTINGS)
    return {(each.predictor, each.metric, each.left, each.right): each for each in found}


def test_arms_are_compared_where_a_predictor_was_asked_in_both(compared):
    assert set(compared) == {
        ("one", "accuracy", "all", "code"),
        ("one", "named_accuracy", "all", "code"),
    }


def test_a_difference_is_of_the_same_notebooks(compared):
    gain = compared["one", "accuracy", "all", "code"]
    assert gain.difference == pytest.approx((19 - 5 - 2) / 40)
    assert (gain.left_only, gain.right_only) == (14, 2)
    assert gain.p == pytest.approx(2 * (1 + 16 + 120) / 2**16)  # two-sided binomial, 2 of 16
    assert gain.ci_low < gain.difference < gain.ci_high


def test_a_crash_with_another_name_is_not_told_right_where_names_count(compared):
    named = compared["one", "named_accuracy", "all", "code"]
    assert named.difference == pytest.approx((15 - 5 - 2) / 40)
    assert (named.left_only, named.right_only) == (10, 2)
