import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from failbench.base.methods import ENTRIES, MONITOR_METHODS
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.features.feature_table import to_frame
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context
from failbench.methods.healthy import HealthyBand
from failbench.methods.monitor_methods import AbstainingInvariants, BrokenInvariants
from failbench.monitor.records.verdicts import FLAGS, known_table, with_known
from made_up_monitored import history, judged, monitored, sign

CONTEXT = Context((), HealthyBand({}, {}), seed=0, known=FLAGS)


def framed(histories):
    """Runs by their ids, with nothing but what the monitor knows of them."""
    runs = [({"run_id": run_id}, each) for run_id, each in histories.items()]
    known = known_table(*judged(monitored(runs)))
    keys = ("kind", "scenario", "category", "architecture", "optimizer", "scale", "error_type")
    features = known.select("run_id").with_columns(
        **dict.fromkeys((*keys, "error_message"), pl.lit("")), seed=pl.lit(0)
    )
    return to_frame(with_known(features, known))


@pytest.fixture(scope="module")
def runs():
    """Eight scenarios of two runs of each category, in the order of run ids."""
    names = {
        f"{category}-{scenario}-{seed}": category
        for category in CATEGORIES
        for scenario in range(8)
        for seed in range(2)
    }
    frame = framed({name: sign(category) for name, category in names.items()})
    labels = np.array([names[name] for name in frame.index], dtype=object)
    return frame, labels, np.array([name[:-2] for name in frame.index], dtype=object)


@pytest.fixture
def built(settings_of):
    return lambda name: method_named(name).build(settings_of(name), CONTEXT)


@pytest.mark.parametrize("name", MONITOR_METHODS)
def test_methods_keep_the_interface_of_all(name, built, runs):
    frame, labels, groups = runs
    method = built(name)
    with pytest.raises(NotFittedError):
        clone(method).predict_proba(frame)
    assert method.fit(frame, labels, groups=groups) is method
    probabilities, answers = method.predict_proba(frame), method.predict(frame)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    diagnoses = method.diagnose(frame)
    assert [diagnosis.category for diagnosis in diagnoses] == answers.tolist()
    assert all((each.reason is not None) == (each.category == ABSTAIN) for each in diagnoses)
    committed = answers != ABSTAIN
    likeliest = np.array(CATEGORIES, dtype=object)[probabilities.round(6).argmax(axis=1)]
    assert likeliest[committed].tolist() == answers[committed].tolist()
    assert method.predict(frame[::-1]).tolist() == answers[::-1].tolist()
    assert {"ending"} <= ENTRIES[name].reads


@pytest.mark.parametrize("name", ["invariants", "forest_on_invariants", "ebm_on_invariants"])
def test_what_broke_tells_causes_apart_that_end_alike(name, built, runs):
    frame, labels, groups = runs
    assert (built(name).fit(frame, labels, groups=groups).predict(frame) == labels).all()
    ending = built("ending").fit(frame, labels, groups=groups).predict(frame)
    assert (ending == labels).mean() == pytest.approx(0.6)  # two complete, two raise the same


def test_labels_move_how_sure_the_monitor_is_and_never_its_answer(runs):
    frame, labels, groups = runs
    wrong = np.roll(labels, 16)
    true, false = (BrokenInvariants().fit(frame, y, groups=groups) for y in (labels, wrong))
    assert true.predict(frame).tolist() == false.predict(frame).tolist()
    confident = frame["decided_kind"] == "logic"
    # of eight scenarios that an invariant decided, and 24 that logic did
    assert true.predict_proba(frame[confident]).max() == pytest.approx((8 + 2 * 25 / 26) / 10)
    assert false.predict_proba(frame[confident]).max() == pytest.approx(0.21)
    (nothing,) = true.diagnose(framed({"a": history()}))
    assert (nothing.category, nothing.reason, nothing.confidence) == (ABSTAIN, "missing", 0.2)


def decided(*runs):
    """Runs by scenario, whether the answer is right, and what decided."""
    frame = pd.DataFrame(
        [("unknown" if right else "optimization", "logic", decider) for _, right, decider in runs],
        columns=["answer", "decided_kind", "decided_by"],
    )
    labels = np.array(["unknown"] * len(runs), dtype=object)
    return frame, labels, np.array([scenario for scenario, _, _ in runs], dtype=object)


SURE = [(f"good-{number}", True, "x") for number in range(20)]
UNSURE = [(f"bad-{number}", number < 2, "y") for number in range(6)]


def test_the_monitor_abstains_where_answers_like_it_were_wrong_before():
    frame, labels, groups = decided(*SURE, *UNSURE)
    method = AbstainingInvariants(coverage=0.75).fit(frame, labels, groups=groups)
    assert method.predict(frame).tolist() == ["unknown"] * 20 + [ABSTAIN] * 6
    abstained = method.diagnose(frame.assign(statement="", decided_step=1, end_kind=""))[-1]
    assert (abstained.category, abstained.reason) == (ABSTAIN, "low_confidence")
    bold = AbstainingInvariants(coverage=1.0).fit(frame, labels, groups=groups)
    assert bold.predict(frame).tolist() == frame["answer"].tolist()


def test_a_threshold_is_learnt_from_scenarios_that_confidences_were_not():
    """What was right once, and decides no other scenario, is no surer than its kind."""
    lone = [(f"lone-{number}", True, f"decider-{number}") for number in range(12)]
    frame, labels, groups = decided(*SURE, *lone)
    method = AbstainingInvariants(coverage=0.9).fit(frame, labels, groups=groups)
    unseen = method.sureness_.of_decision("logic", "never seen")
    assert method.threshold_ < unseen < method.sureness_.of_decision("logic", "decider-0")
