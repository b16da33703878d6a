import dataclasses
import json

import numpy as np
import pytest

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import causes
from failbench.diagnose.fitting import (
    Choices,
    KnownLog,
    calibrations_of,
    chosen_temperature,
    examples_of,
    fitted,
    fitted_weights,
)
from failbench.diagnose.model import (
    SHARED,
    category_scores,
    read_model,
    said_category,
    softmax,
    supports_of,
    write_model,
)
from failbench.diagnose.signs import Sign

CHOICES = Choices(
    penalties=(0.3, 3.0), margins=(0.0, 1.0, 4.0), most_alarmed=0.05, inner_folds=3, seed=0
)
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
        logs.append(KnownLog((message(named), jump), cause, f"scenario {number}", "small"))
    for number in range(40):
        jump = Sign("check", "loss_jumps", amount=float(rng.random()))
        logs.append(KnownLog((jump,), None, f"success {number}", ("small", "large")[number % 2]))
    return logs


@pytest.fixture(scope="module")
def model():
    return fitted(known_logs(np.random.default_rng(0)), CHOICES, "made-up logs")


def test_a_cause_of_no_scenario_is_named_by_its_message(model):
    unseen = OF_CATEGORY["model_software"][-1]
    assert unseen not in {log.cause for log in known_logs(np.random.default_rng(0))}
    weighed = model.weighed(supports_of((message(unseen),), model.bounds))
    assert CATEGORIES[weighed.category] == "model_software"
    assert list(causes())[weighed.cause] == unseen


@pytest.mark.parametrize(
    ("signs", "decided"),
    [
        ((message("graph_kept", "circumstantial"), message("deadlock")), "graph_kept"),
        ((message("deadlock"), message("graph_kept")), "deadlock"),
        ((dataclasses.replace(CIRCUMSTANTIAL, is_warning=True), message("deadlock")), "deadlock"),
        ((dataclasses.replace(CIRCUMSTANTIAL, is_warning=True),), None),
        ((CIRCUMSTANTIAL, Sign("decided", "logic")), None),
        ((message("graph_kept"), Sign("decided", "logic")), "graph_kept"),
    ],
)
def test_the_first_words_that_have_a_category_decide(model, signs, decided):
    told = said_category(signs)
    assert told == (None if decided is None else causes()[decided].category)
    against = (*signs, *(Sign("check", "loss_jumps", amount=9.0, causes=("labels_wrong",)),) * 9)
    if told is not None:
        weighed = model.weighed(supports_of(against, model.bounds))
        assert CATEGORIES[weighed.category] == told
        assert list(causes().values())[weighed.cause].category == told


def test_a_confidence_that_is_more_often_wrong_the_higher_it_is_is_made_flat():
    rng = np.random.default_rng(0)
    sure = np.linspace(0.4, 0.99, 60)
    held_out = np.column_stack([sure, *[(1 - sure) / 4] * 4])
    # the category of position 0 is seldom right if sure
    truth = (rng.random(60) < sure).astype(int)
    supports = [supports_of((), {})] * 60
    scenarios = np.array([f"scenario {number}" for number in range(60)], dtype=object)
    made = calibrations_of(held_out, supports, truth, scenarios)["complete"]
    assert np.ptp(made.right) < 0.1
    assert max(made.right) == pytest.approx((truth == 0).mean(), abs=0.1)
    honest = calibrations_of(held_out, supports, 1 - truth, scenarios)["complete"]
    assert (np.diff(honest.right) >= 0).all()
    assert 0.8 < max(honest.right) < 1


def test_weights_are_at_a_minimum():
    failing = [log for log in known_logs(np.random.default_rng(2)) if log.cause is not None]
    examples = examples_of(failing, [supports_of(log.signs, {}) for log in failing])
    weights = fitted_weights(examples, 1.0)

    def loss(shared):
        moved = weights.model_copy(update={"shared": tuple(shared)})
        shares = softmax(category_scores(moved, examples.categories, examples.own))
        likely = np.log(shares[np.arange(len(shares)), examples.category])
        return -examples.weights @ likely + 0.5 * np.square(shared).sum()

    least = loss(np.array(weights.shared))
    for place in range(len(SHARED)):
        for step in (-0.05, 0.05):
            assert loss(np.array(weights.shared) + step * np.eye(len(SHARED))[place]) > least


def test_a_temperature_makes_scores_honest():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    truth = np.array([rng.choice(3, p=share) for share in softmax(scores)])
    assert chosen_temperature(4 * scores, truth, np.ones(4000)) == pytest.approx(4, rel=0.1)


def test_a_model_is_json_and_read_back_and_refused_if_it_is_none(tmp_path, model):
    path = tmp_path / "model.json"
    write_model(path, model)
    content = json.loads(path.read_text())
    assert content["fitted_on"] == "made-up logs"
    again = read_model(path)
    supports = supports_of((message("graph_kept"),), model.bounds)
    assert model.weighed(supports).causes == pytest.approx(again.weighed(supports).causes, abs=1e-4)
    for change, field in (
        ({"temperature": "hot"}, "temperature"),
        ({"surplus": 1}, "surplus"),
        ({"shared": {}}, "own"),
    ):
        path.write_text(json.dumps(content | change))
        with pytest.raises(BadInputError, match=field):
            read_model(path)
