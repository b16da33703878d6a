import dataclasses
import json
import math

import numpy as np
import pytest

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import causes
from failbench.diagnose import alarm, fitting
from failbench.diagnose.known import KnownLog, Said
from failbench.diagnose.model import (
    SHARED,
    category_scores,
    read_model,
    softmax,
    supports_of,
    write_model,
)
from failbench.diagnose.series import (
    FROM_SCRATCH,
    WINDOW,
    CheckedSeries,
    checks,
    compared,
    fitted_bounds,
)
from failbench.diagnose.signs import Bounds, Sign
from failbench.diagnose.words import counted, read_words, write_words

CHOICES = fitting.Choices(
    penalties=(0.3, 3.0), shared_penalty=1.0, margins=(0.0, 1.0, 4.0), most_alarmed=0.05,
    words_c=10.0, message_weight=0.3, inner_folds=3, seed=0,
)  # fmt: skip
OF_CATEGORY = {
    category: [name for name, cause in causes().items() if cause.category == category]
    for category in CATEGORIES
}


def message(cause, strength="direct"):
    return Sign("message", f"says {cause}", strength, (cause,), causes()[cause].category)


CIRCUMSTANTIAL = message("graph_kept", "circumstantial")


def known_logs(rng, right=0.9):
    """Each scenario has a message that mostly names its cause, and a jump that says nothing."""
    logs = []
    for number in range(60):
        category = CATEGORIES[number % len(CATEGORIES)]
        cause = OF_CATEGORY[category][number // len(CATEGORIES) % len(OF_CATEGORY[category])]
        named = cause if rng.random() < right else str(rng.choice(list(causes())))
        jump = Sign("check", "loss_jumps", amount=float(rng.random()))
        name = f"scenario {number}"
        known = (message(named), jump), category, cause, name, "small", name, counted("")
        logs.append(KnownLog(*known))
    for number in range(40):
        jump = Sign("check", "loss_jumps", amount=float(rng.random()))
        name, size = f"success {number}", ("small", "large")[number % 2]
        logs.append(KnownLog((jump,), None, None, name, size, name, counted("")))
    return logs


@pytest.fixture(scope="module")
def model():
    made, words = fitting.fitted(known_logs(np.random.default_rng(0)), CHOICES, "made-up logs")
    assert words is None
    return made


def test_a_cause_of_no_scenario_is_named_by_its_message(model):
    unseen = OF_CATEGORY["model_software"][-1]
    assert unseen not in {log.cause for log in known_logs(np.random.default_rng(0))}
    weighed = model.weighed(supports_of((message(unseen),), model.bounds.of(())))
    assert CATEGORIES[weighed.category] == "model_software"
    assert list(causes())[weighed.cause] == unseen


TEXTS = {
    "memory_hardware": "the card ran out of room", "optimization": "the rate was far too high",
    "data_pipeline": "a column of the table is empty", "model_software": "no such attribute",
    "unknown": "it stopped by itself",
}  # fmt: skip


def texts(rng, count=60):
    """Logs of six authors whose words tell the category, among words that tell nothing."""
    logs = []
    for number in range(count):
        category = CATEGORIES[number % len(CATEGORIES)]
        noise = " ".join(rng.choice(["step", "epoch", "loss", "saved", "time"], 6))
        name, author = f"text {number}", f"author {number // 10}"
        words = counted(f"{noise} {TEXTS[category]}")
        known = (), category, OF_CATEGORY[category][0], name, "field", author, words
        logs.append(KnownLog(*known, teaches_words=True))
    return logs


def test_words_of_other_authors_name_category_and_cause():
    logs = texts(np.random.default_rng(0))
    made, words = fitting.fitted(logs, CHOICES, "made-up texts")
    support = words.support(counted("epoch: the card ran out of room again"))
    weighed = made.weighed(supports_of((), made.bounds.of(()), support))
    assert CATEGORIES[weighed.category] == "memory_hardware"
    assert list(causes())[weighed.cause] == OF_CATEGORY["memory_hardware"][0]
    assert words.support(counted("")).categories.tolist() == [0.0] * len(CATEGORIES)


def test_what_words_speak_for_was_learnt_without_their_own_author():
    """An author whose words mean the opposite is answered by what the others wrote."""
    logs = texts(np.random.default_rng(0))
    odd = [
        dataclasses.replace(log, category=CATEGORIES[(CATEGORIES.index(log.category) + 1) % 5])
        for log in logs[:10]
    ]
    _, held_out = fitting.words_held_out([*odd, *logs[10:]], (), CHOICES)
    said = [CATEGORIES[each.categories.argmax()] for each in held_out[:10]]
    assert said == [log.category for log in logs[:10]]


def test_a_message_teaches_its_category_where_no_log_does():
    logs = [log for log in texts(np.random.default_rng(0)) if log.category != "unknown"]
    line = counted("preempted by the scheduler")
    said = [Said(line, "unknown", OF_CATEGORY["unknown"][0])] * 5
    _, words = fitting.fitted(logs, CHOICES, "made-up texts", said)
    support = words.support(line)
    assert CATEGORIES[support.categories.argmax()] == "unknown"


def test_weights_of_words_are_read_back_and_a_table_of_another_shape_is_refused(tmp_path):
    _, words = fitting.fitted(texts(np.random.default_rng(0)), CHOICES, "made-up texts")
    path = tmp_path / "words.npy"
    write_words(path, words)
    text = counted("the rate was far too high")
    again = read_words(path).support(text)
    assert again.categories == pytest.approx(words.support(text).categories, abs=0.1)
    np.save(path, np.zeros((3, 3)))
    with pytest.raises(BadInputError, match=r"words\.npy: \(shape\): is \(3, 3\)"):
        read_words(path)
    path.write_text("no table")
    with pytest.raises(BadInputError, match=r"words\.npy: \(file\)"):
        read_words(path)


def test_a_confidence_that_is_more_often_wrong_the_higher_it_is_is_made_flat():
    rng = np.random.default_rng(0)
    sure = np.linspace(0.4, 0.99, 60)
    held_out = np.column_stack([sure, *[(1 - sure) / 4] * 4])
    # the category of position 0 is seldom right if sure
    truth = (rng.random(60) < sure).astype(int)
    supports = [supports_of((), {})] * 60
    scenarios = np.array([f"scenario {number}" for number in range(60)], dtype=object)
    made = fitting.calibrations_of(held_out, supports, truth, scenarios)["complete"]
    assert np.ptp(made.right) < 0.1
    assert max(made.right) == pytest.approx((truth == 0).mean(), abs=0.1)
    honest = fitting.calibrations_of(held_out, supports, 1 - truth, scenarios)["complete"]
    assert (np.diff(honest.right) >= 0).all()
    assert 0.8 < max(honest.right) < 1


def test_weights_are_at_a_minimum():
    failing = [log for log in known_logs(np.random.default_rng(2)) if log.category is not None]
    examples = fitting.examples_of(failing, [supports_of(log.signs, {}) for log in failing])
    weights = fitting.fitted_weights(examples, 3.0, 1.0)

    def loss(shared):
        moved = weights._replace(shared=shared)
        shares = softmax(category_scores(moved, examples.categories, examples.own))
        likely = np.log(shares[np.arange(len(shares)), examples.category])
        return -examples.weights @ likely + 0.5 * np.square(shared).sum()

    least = loss(weights.shared)
    for place in range(len(SHARED)):
        for step in (-0.05, 0.05):
            assert loss(weights.shared + step * np.eye(len(SHARED))[place]) > least


def monitored_logs():
    """Four authors; what breaks in half of the healthy runs, too, and what breaks in none."""
    logs = []
    for number in range(160):
        author, fails = f"author {number % 4}", number % 8 < 4
        broken = ["batches_differ"] if number % 16 < 8 else []
        broken += ["labels_aligned"] if fails and number % 32 < 24 else []
        signs = (Sign("monitored", "standard"), *(Sign("invariant", each) for each in broken))
        category, name = "data_pipeline" if fails else None, f"run {number}"
        cause = OF_CATEGORY["data_pipeline"][0] if fails else None
        known = signs, category, cause, name, "field", author, counted("")
        logs.append(KnownLog(*known, teaches_words=True))
    return logs


def test_what_breaks_in_healthy_runs_of_others_does_not_alarm():
    others = [replaced(log, "optimization") for log in monitored_logs()]
    made, _ = fitting.fitted([*monitored_logs(), *others], CHOICES, "made-up runs")
    # the limit is the score of one of these few runs, and whether equal scores pass is rounding
    made = made.model_copy(update={"alarm_limit": made.alarm_limit + 1e-9})

    def alarms(*broken):
        signs = (Sign("monitored", "standard"), *(Sign("invariant", each) for each in broken))
        return made.is_alarm(False, signs, supports_of(signs, {}))

    assert not alarms()
    assert not alarms("batches_differ")
    assert alarms("labels_aligned")
    assert made.is_alarm(True, (), supports_of((Sign("monitored", "light"),), {}))


def test_runs_that_ended_do_not_teach_what_a_quiet_run_that_fails_looks_like():
    runs = monitored_logs()
    raised = Sign("event", "exception")
    ended = [
        dataclasses.replace(log, scenario=f"ended {log.scenario}", signs=(*log.signs, raised))
        for log in runs
        if log.category is not None
    ]
    settings, bounds = (
        np.array(["all"] * 2 * len(runs), dtype=object),
        Bounds(complete={}, other={}),
    )
    both = [*runs, *ended]
    alone = alarm.alarm_of(runs, settings[: len(runs)], bounds, CHOICES)
    beside = alarm.alarm_of(both, settings[: len(both)], bounds, CHOICES)
    assert np.array_equal(alone[0], beside[0])
    assert alone[1] == beside[1]


def replaced(log, category):
    """The same run of another scenario, whose cause is of another category."""
    if log.category is None:
        return log
    changed = {"category": category, "cause": OF_CATEGORY[category][0]}
    return dataclasses.replace(log, scenario=f"{log.scenario} of {category}", **changed)


def test_a_limit_is_passed_by_a_share_of_each_setting_on_average():
    scores, settings = np.arange(12.0), np.array(["large"] * 10 + ["small"] * 2)
    assert alarm.seldom_passed(scores, settings, 0.25) == 10.0  # one of two, and none of ten
    assert alarm.seldom_passed(scores, settings, 0.5) == 9.0
    assert alarm.seldom_passed(scores, settings, 0.0) == 11.0


def test_a_temperature_makes_scores_honest():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    truth = np.array([rng.choice(3, p=share) for share in softmax(scores)])
    assert fitting.chosen_temperature(4 * scores, truth, np.ones(4000)) == pytest.approx(4, rel=0.1)


def test_a_model_is_json_and_read_back_and_refused_if_it_is_none(tmp_path, model):
    path = tmp_path / "model.json"
    write_model(path, model)
    content = json.loads(path.read_text())
    assert content["fitted_on"] == "made-up logs"
    again = read_model(path)
    supports = supports_of((message("graph_kept"),), model.bounds.of(()))
    assert model.weighed(supports).causes == pytest.approx(again.weighed(supports).causes, abs=1e-4)
    for change, field in (
        ({"temperature": "hot"}, "temperature"),
        ({"surplus": 1}, "surplus"),
        ({"shared": {}}, "own"),
    ):
        path.write_text(json.dumps(content | change))
        with pytest.raises(BadInputError, match=field):
            read_model(path)


STEADY = np.full(20, 2.0)


def amounts(values, against):
    return compared(np.array(values, float), against).amounts


def test_a_value_is_held_against_those_before_or_the_start_or_the_best():
    values = [*STEADY, 6.0]
    assert amounts(values, "past_difference")[-1] == pytest.approx(4.0)
    assert amounts(values, "past_ratio")[-1] == pytest.approx(math.log(3))
    ratios = amounts([*[2.0] * WINDOW, *[4.0] * (2 * WINDOW)], "start_ratio")
    assert np.isnan(ratios[:WINDOW]).all()
    assert ratios[-1] == pytest.approx(math.log(2))
    one_outlier = [*STEADY, 50.0, *STEADY]
    assert np.nanmax(amounts(one_outlier, "best_difference")) == 0
    assert np.nanmax(amounts([*STEADY, *[50.0] * 5], "best_difference")) == pytest.approx(48.0)
    broken = [*STEADY, math.nan, math.inf, 2.0]
    assert amounts(broken, "past_difference")[-1] == 0
    assert amounts(broken, "not_finite").tolist() == [*[0.0] * 20, 1.0, 1.0, 0.0]


def test_a_rate_that_is_printed_with_few_digits_is_not_zero():
    printed = [0.006, 0.003, 0.001, *[0.0] * 30]
    assert not (amounts(printed, "zero_inside") > 0).any()
    assert not (amounts(printed, "faded_share") > 0).any()
    exact = [0.006, 0.003, 0.0001, *[0.0] * 30]
    assert amounts(exact, "zero_inside")[-1] == 1
    assert amounts(exact, "faded_share")[-1] == pytest.approx(30 / 33)


def test_a_warm_up_is_no_new_peak_and_a_jump_after_it_is():
    warm_up = [*np.linspace(1e-6, 1e-3, 20), *np.linspace(1e-3, 1e-4, 30)]
    assert np.nanmax(amounts(warm_up, "new_peak")) < 0
    assert amounts([*warm_up, 1e-2], "new_peak")[-1] == pytest.approx(math.log(10))


def test_a_rise_since_the_best_a_fall_from_scratch_and_a_climb_with_time():
    assert amounts([*range(20, 5, -1), *range(5, 15)], "since_best")[-1] == 1
    assert np.isnan(amounts(range(20, 0, -1), "since_best")[-1])
    falling = np.linspace(2 * FROM_SCRATCH, FROM_SCRATCH, 30)
    assert amounts(falling, "progress")[-1] == pytest.approx(0.4, abs=0.1)
    assert np.isnan(amounts(falling / 10, "progress")).all()
    assert amounts(range(50), "climb")[-1] == 1
    assert amounts(range(50, 0, -1), "climb")[-1] == -1
    assert abs(amounts(np.random.default_rng(0).random(500), "climb")[-1]) < 0.2


@pytest.mark.parametrize("check", checks().values(), ids=lambda check: check.id)
@pytest.mark.parametrize("count", [1, 2, 9])
def test_short_and_broken_series_are_compared_too(check, count):
    for value in (1.0, 0.0, -1.0, math.nan, math.inf, 1e308):
        held = compared(np.full(count, value), check.against)
        assert len(held.amounts) == len(held.references) == count
        assert len(CheckedSeries(check, None, held).lasting()) == count


def test_a_bound_lies_beyond_the_most_extreme_healthy_log():
    check = checks()["loss_jumps"]
    of_logs = np.array([0.1, 0.2, 0.5, 9.0])
    healthy = np.array([True, True, True, False])
    (bound,) = fitted_bounds({check.id: check}, {check.id: of_logs}, healthy, 1.0).values()
    assert (bound.usual, bound.limit) == (0.2, pytest.approx(0.8))
    assert fitted_bounds({check.id: check}, {check.id: of_logs}, healthy[::-1] & False, 1.0) == {}
