import numpy as np
import polars as pl
import pytest
from scipy.stats.contingency import association as scipy_association

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.agreement import cramers_v, permutation_test
from failbench.statistics.settings import read_with_statistics
from made_up_telemetry import telemetry_of
from onset import association, indicators, verdict
from shared import onset_signs

LIMITS = dict.fromkeys(onset_signs.SIGNALS, onset_signs.Limits(3.0, 3.0))
SETTINGS = read_with_statistics("onset", onset_signs.OnsetSettings).model_copy(
    update={"permutations": 200, "resamples": 1000}
)


def recorded(losses, kind="success"):
    """Runs of constant signals but for their losses, a list of each."""
    runs, steps = [], []
    for number, values in enumerate(losses):
        name = {"run_id": f"{kind}-{number}"}
        runs.append(name | {"kind": kind, "capacity_bytes": 100})
        same = {"gradient_norm": 1.0, "memory_bytes": 50, "step_seconds": 0.1}
        steps += [name | {"step": step, "loss": loss} | same for step, loss in enumerate(values)]
    return telemetry_of(runs, steps)


def healthy(runs=12):
    return recorded([[2.0 + 0.1 * (run % 3)] * 30 for run in range(runs)])


SPREAD = np.std([2.0, 2.1, 2.2] * 4, ddof=1)


@pytest.mark.parametrize(
    ("losses", "distances"),
    [
        pytest.param([2.1 + SPREAD, 2.1 - 2 * SPREAD, 2.1], [1.0, 2.0, 0.0], id="to either side"),
        pytest.param([float("nan"), float("inf"), None], [np.inf, np.inf, 0.0], id="not finite"),
    ],
)
def test_a_distance_is_in_standard_deviations_of_successful_runs(losses, distances):
    parts = (healthy(), recorded([losses], "failure"))
    both = Telemetry(pl.concat(p.runs for p in parts), pl.concat(p.steps for p in parts))
    found = onset_signs.step_distances(both).filter(run_id="failure-0")
    np.testing.assert_allclose(found["loss"], distances, atol=1e-5)
    with pytest.raises(BadInputError, match="a setting has 3 successful runs"):
        onset_signs.step_distances(healthy(runs=3))


@pytest.mark.parametrize(
    ("distance", "single", "position"),
    [
        ([0, 4, 4, 0, 4, 4, 4, 0], 3.0, 4),  # three on end
        ([0, 4, 4, 0, 4, 4, 0, 0], 3.0, None),  # two on end, twice
        ([0, 0, 0, 0, 0, 0, 4, 4], 3.0, 6),  # two, and then the failure
        ([4, 4, 4], 3.0, 0),
        ([4], 3.0, 0),
        ([0], 3.0, None),
        ([], 3.0, None),
        ([0, 0, 0, 4], 5.0, None),  # at the end, less than single healthy steps did
        ([0, 0, 0, 4], 3.5, 3),
    ],
)
def test_a_deviation_persists_for_some_steps_or_up_to_the_failure(distance, single, position):
    assert (
        onset_signs.persisting(np.array(distance, dtype=float), onset_signs.Limits(3.0, single), 3)
        == position
    )


def test_the_step_of_the_failure_is_no_sign_of_it_nor_what_successful_runs_reach():
    still = {**dict.fromkeys(onset_signs.SIGNALS, 0.0), "run_id": "a", "step": range(4)}
    run = pl.DataFrame(still | {"loss": [0.0, 0.0, 0.0, 9.0]})
    for failure_step, lead in ((3, None), (4, 1)):
        ends = pl.DataFrame({"run_id": ["a"], "failure_step": [failure_step]})
        assert onset_signs.first_signs(run, ends, LIMITS, 3)["lead"].to_list() == [lead]
    noisy = [list(2.0 + np.random.default_rng(run).normal(0, 0.1, 60)) for run in range(12)]
    recordings = recorded(noisy)
    distances = onset_signs.step_distances(recordings)
    ends = recordings.runs.select("run_id", failure_step=pl.lit(60))
    signs = onset_signs.first_signs(distances, ends, onset_signs.healthy_reach(distances, 5), 5)
    assert signs["lead"].null_count() == 12


def rows_of(kind_of, seeds=2):
    """Runs of every category, whose kind of onset is a function of category and scenario."""
    rows = [
        (category, f"{category}{number}", seed, kind_of(category, number))
        for category in CATEGORIES
        for number in range(6)
        for seed in range(seeds)
    ]
    return pl.DataFrame(rows, schema=["category", "scenario", "seed", "onset"], orient="row")


def test_v_is_that_of_scipy_and_permutations_reject_what_depends():
    table = np.array([[12.0, 3.0, 5.0], [4.0, 9.0, 2.0], [7.0, 7.0, 8.0]])
    assert cramers_v(table) == pytest.approx(scipy_association(table.astype(int)))
    assert cramers_v(np.diag([3.0, 5.0, 2.0])) == pytest.approx(1.0)
    assert cramers_v(np.outer([1.0, 2.0], [3.0, 4.0])) == pytest.approx(0.0)
    shares = np.eye(2)[[0] * 20 + [1] * 20]
    rng = np.random.default_rng(0)
    groups, mixed = (
        np.array(list(each), dtype=object) for each in (20 * "a" + 20 * "b", 20 * "ab")
    )
    assert permutation_test(shares, groups, 199, rng)[0] == 1 / 200
    assert permutation_test(shares, mixed, 199, rng)[0] > 0.5


def test_more_seeds_of_the_same_scenarios_are_no_more_evidence_and_scenarios_are_counted():
    def kind(category, number):
        return "gradual" if (number + CATEGORIES.index(category)) % 2 else "none"

    few, many = (association(rows_of(kind, seeds=seeds), SETTINGS) for seeds in (1, 6))
    assert all(few[key] == many[key] for key in ("value", "p", "expected"))
    rows = rows_of(lambda category, number: "gradual" if number < 3 else "none", seeds=1)
    of_memory = pl.col("category") == "memory_hardware"
    sign = (pl.col("onset") == "gradual") & (of_memory | (pl.col("scenario") == "unknown0"))
    found = indicators(rows, {"rule": (sign, of_memory)}, SETTINGS)["rule"]
    values = [found[name]["value"] for name in ("precision", "recall", "base")]
    assert values == pytest.approx([3 / 4, 3 / 6, 1 / 5])
    assert found["shown_by"] == {"scenarios": 4.0, "runs": 4}


@pytest.mark.parametrize(
    ("test", "bounds", "more", "said"),
    [
        ("chance", (0.3, 0.2, 0.4), {"p": 0.01}, "holds"),
        ("chance", (0.3, 0.2, 0.4), {"p": 0.2}, "undecided"),
        ("base", (0.7, 0.5, 0.8), {"against": 0.46}, "holds"),
        ("base", (0.5, 0.4, 0.55), {"against": 0.46}, "does not hold"),
        ("base", (0.5, 0.4, 0.65), {"against": 0.46}, "undecided"),
        ("half", (0.7, 0.51, 0.8), {}, "holds"),
        ("half", (0.3, 0.2, 0.49), {}, "does not hold"),
        ("half", (0.6, 0.4, 0.8), {}, "undecided"),
        ("margin", (0.2, 0.11, 0.3), {}, "holds"),
        ("margin", (0.05, 0.01, 0.09), {}, "does not hold"),
        ("gain", (0.05, 0.01, 0.09), {}, "holds"),
        ("gain", (0.0, -0.1, 0.09), {}, "does not hold"),
        ("gain", (0.0, -0.1, 0.2), {}, "undecided"),
        ("absent", (0.0, 0.0, 0.1), {}, "holds"),
        ("absent", (0.01, 0.0, 0.1), {}, "does not hold"),
    ],
)
def test_verdicts_follow_from_the_interval_alone(test, bounds, more, said):
    measured = {"against": 0.0} | dict(zip(("value", "ci_low", "ci_high"), bounds, strict=True))
    assert verdict(test, measured | more, 0.1, 0.05) == said
