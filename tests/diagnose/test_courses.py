import csv
import math
from importlib.resources import files

import numpy as np
import pytest

from failbench.diagnose.courses import SHAPES, Course, courses, measured
from failbench.diagnose.curves import Curve, curves_of, role_of
from failbench.diagnose.finding import look_up
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.signs import observed

STEPS = np.arange(40)
FALLING = 2.5 * 0.93**STEPS + 0.1
NOISE = np.random.default_rng(0).normal(size=40)
NAN = math.nan


def flat(level, noise=0.0):
    return level * (1 + noise * NOISE)


def curve(role, values):
    role, _, part = role.partition("/")
    values = np.asarray(values, float)
    places = np.arange(len(values))
    return Curve(role, role, part or None, 1.0, values, places + 1, places.astype(float), 0)


def said(**given):
    """Ids of the checks that hold, and of those that cannot be measured."""
    found = list(measured([curve(role.replace("__", "/"), v) for role, v in given.items()]))
    holds = {each.course.id for each in found if not isinstance(each, Course) and each.holds}
    return holds, {each.id for each in found if isinstance(each, Course)}


# where a check holds, and the healthy near miss where it does not
CASES = {
    "loss_constant": ({"loss": flat(0.6931)}, {"loss": np.r_[0.6931, 0.6931, 0.69, 0.65, 0.5]}),
    "loss_zero": ({"loss": flat(0.0)}, {"loss": np.r_[FALLING, np.zeros(30)]}),
    "loss_below_zero": (
        {"loss": FALLING - 1, "rate": 1 - FALLING / 3}, {"loss": FALLING, "rate": 1 - FALLING / 3}),
    "loss_at_chance": ({"loss": flat(math.log(3), 0.002)}, {"loss": flat(1.15, 0.002)}),
    "loss_stays": ({"loss": flat(3.3, 0.004)}, {"loss": flat(3.3, 0.004) - 0.01 * STEPS}),
    "loss_trendless": ({"loss": 3 + NOISE}, {"loss": np.r_[9, 3 + NOISE[1:]]}),
    "loss_lags": (
        {"loss": 2.8 + FALLING / 5, "rate": 0.7 - FALLING / 4},
        {"loss": FALLING, "rate": 0.7 - FALLING / 4}),
    "perplexity_of_one": ({"perplexity": 0.8 + FALLING}, {"perplexity": 1.2 + FALLING}),
    "loss_ends_higher": ({"loss": 1 + STEPS / 20}, {"loss": flat(1.0, 0.02)}),
    "loss_steps_up": (
        {"loss": np.r_[FALLING[:25], flat(6.0, 0.05)[25:]]},
        {"loss": np.r_[FALLING[:25], 6, 4, 2, FALLING[28:]]}),
    "nan_from_start": ({"loss": flat(NAN)}, {"loss": np.r_[NAN, FALLING]}),
    "nan_after_spike": ({"loss": [2, 1.9, 1.8, 30, NAN]}, {"loss": [2, 1.9, 1.8, 30, 1.7]}),
    "nan_suddenly": ({"loss": [2, 1.9, 1.8, 1.7, NAN]}, {"loss": [2, 1.9, 1.8, 30, NAN]}),
    "nan_in_validation": (
        {"loss": FALLING, "loss__validation": [2, NAN]},
        {"loss": FALLING, "loss__validation": [2, 1]}),
    "validation_constant": (
        {"loss__validation": flat(1.5)}, {"loss__validation": np.round(FALLING, 1)}),
    "validation_zero": ({"loss__test": flat(0.0)}, {"loss__test": [1, 0, 0, 0]}),
    "validation_at_chance": (
        {"loss__validation": flat(math.log(2), 0.001)},
        {"loss__validation": [0.69, 0.68, 0.5, 0.4]}),
    "validation_stays": (
        {"loss__validation": flat(3.0, 0.002)}, {"loss__validation": [3.0, 2.9, 2.8, 2.7]}),
    "validation_left": (
        {"loss": FALLING, "loss__validation": flat(2.5, 0.01)},
        {"loss": FALLING, "loss__validation": 0.7 * FALLING + 0.8}),
    "validation_turns": (
        {"loss": FALLING, "loss__validation": 1 + (STEPS - 15) ** 2 / 400},
        {"loss": FALLING, "loss__validation": np.maximum(FALLING, 0.9)}),
    "validation_better": (
        {"loss": 4 * FALLING, "loss__validation": FALLING},
        {"loss": 1.5 * FALLING, "loss__validation": FALLING}),
    "accuracy_constant": ({"rate": flat(0.35)}, {"rate": flat(1.0)}),
    "accuracy_zero": ({"rate": flat(0.0)}, {"rate": [0, 0, 0.05, 0.2, 0.3]}),
    "accuracy_stays": ({"rate": flat(0.5, 0.01)}, {"rate": 0.5 + STEPS / 100}),
    "accuracy_guessed": (
        {"loss": flat(math.log(4), 0.01), "rate": flat(0.25, 0.02)},
        {"loss": flat(0.4, 0.01), "rate": flat(0.85, 0.02)}),
    "accuracy_apart": (
        {"rate__train": 1 - FALLING / 3, "rate__validation": flat(0.5)},
        {"rate__train": 1 - FALLING / 3, "rate__validation": 0.9 - FALLING / 3}),
    "test_apart": (
        {"rate__validation": flat(0.9), "rate__test": flat(0.6)},
        {"rate__validation": flat(0.9), "rate__test": flat(0.85)}),
    "reward_zero": ({"score": flat(0.0)}, {"score": np.r_[np.zeros(10), STEPS / 40]}),
    "reward_constant": ({"score": flat(-1.0)}, {"score": np.r_[flat(-1.0), STEPS / 40]}),
    "margin_zero": ({"margin": flat(0.0)}, {"margin": STEPS / 40}),
    "margin_stays": ({"margin": NOISE}, {"margin": STEPS / 10 + NOISE / 4}),
    "pair_equal": (
        {"score__chosen": NOISE, "score__rejected": NOISE},
        {"score__chosen": NOISE, "score__rejected": -NOISE}),
    "rate_still_rising": (
        {"learning_rate": 1e-6 * (1 + STEPS)},
        {"learning_rate": 1e-6 * np.r_[1 + STEPS[:36], 20, 10, 5, 1]}),
    "norm_vanishes": (
        {"norm": flat(1e-7), "loss": flat(0.69)}, {"norm": flat(0.0), "loss": FALLING}),
    "norm_not_finite": (
        {"norm": np.where(STEPS % 4, 1.0, math.inf)}, {"norm": np.where(STEPS < 6, math.inf, 1.0)}),
    "norm_grows": (
        {"norm": 1.2**STEPS, "loss": 1 + STEPS / 10}, {"norm": 1.2**STEPS, "loss": FALLING}),
    "nothing_trainable": ({"trainable": [0]}, {"trainable": [1200]}),
    "memory_grown": ({"memory": 400 + 20 * STEPS + 30 * NOISE}, {"memory": 400 - 90 * 0.8**STEPS}),
    "memory_climbs": ({"memory": 400 + STEPS}, {"memory": 400 + STEPS / 10}),
    "time_grown": ({"time": 0.2 + STEPS / 40 + NOISE / 50}, {"time": 0.2 + STEPS}),
    "loss_falls": ({"loss": FALLING}, {"loss": flat(2.5, 0.05)}),
    "validation_falls": (
        {"loss__validation": FALLING}, {"loss__validation": flat(2.5, 0.05)}),
    "accuracy_rises": ({"rate": 1 - FALLING / 3}, {"rate": flat(0.5, 0.05)}),
    "reward_rises": ({"score": STEPS / 40 - 1}, {"score": NOISE}),
    "margin_rises": ({"margin": STEPS / 40}, {"margin": NOISE}),
    "norm_settled": ({"norm": flat(1.0, 0.2)}, {"norm": np.r_[flat(1.0), 400]}),
    "run_summed_up": ({"summary": [12.5]}, {"loss": FALLING}),
}  # fmt: skip
# roles whose checks read levels that mean something by themselves: a number of classes, a share
LEVELS = {
    "perplexity_of_one",
    "loss_at_chance",
    "validation_at_chance",
    "accuracy_guessed",
    "loss_below_zero",
}
FREE = ("loss", "loss__validation", "score", "score__chosen", "score__rejected", "margin", "norm",
        "learning_rate", "memory", "time")  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_check_holds_where_it_should_and_misses_what_is_near(name):
    seen, unseen = CASES[name]
    assert name in said(**seen)[0]
    assert name not in said(**unseen)[0]


@pytest.mark.parametrize("name", sorted(set(CASES) - LEVELS))
@pytest.mark.parametrize("factor", [1000.0, 1e-3])
def test_no_check_but_those_of_levels_depends_on_the_unit(name, factor):
    for case, is_seen in zip(CASES[name], (True, False), strict=True):
        scaled = {
            role: np.asarray(values) * factor if role in FREE else values
            for role, values in case.items()
        }
        assert (name in said(**scaled)[0]) == is_seen


def test_a_check_without_its_curves_is_not_measured_and_has_not_passed():
    holds, unmeasured = said(loss=FALLING)
    assert holds == {"loss_falls"}
    assert {"validation_turns", "accuracy_zero", "norm_settled", "run_summed_up"} <= unmeasured
    assert "loss_stays" not in unmeasured
    assert said(loss=[2.5, 2.4])[1] >= {"loss_stays", "loss_constant"}


def test_an_amount_is_a_number_whatever_the_curves():
    rng = np.random.default_rng(29)
    extremes = [0, 1, 0.5, -1, 5e-324, 1e308, -1e308, math.inf, -math.inf, NAN]
    roles = {role for each in courses().values() for role in (each.of, each.beside) if role}
    names = {f"{name}/{part}" for name, _, parts in (role.partition("/") for role in roles)
             for part in ["train", "validation", *parts.split("|")] if part}  # fmt: skip
    for _ in range(300):
        some = rng.choice(extremes, size=rng.integers(1, 4))
        drawn = [curve(name, rng.choice(some, size=rng.integers(2, 30))) for name in sorted(names)]
        found = [each.amount for each in measured(drawn) if not isinstance(each, Course)]
        assert found
        assert not np.isnan(found).any()


def test_every_check_is_tried_and_says_where_its_fact_is_from():
    assert set(courses()) == set(CASES)
    assert {each.shape for each in courses().values()} == set(SHAPES)
    for each in courses().values():
        assert each.source
        assert (each.kind == "fault") == bool(each.causes)
        assert not each.statement.endswith(".")


@pytest.mark.parametrize(
    ("name", "role", "part"),
    [
        ("train/loss", "loss", "train"), ("eval_loss", "loss", "validation"),
        ("Val Accuracy", "rate", "validation"), ("pérdida", "loss", None),
        ("MAE validação", "loss", "validation"), ("точность", "rate", None),
        ("検証損失", "loss", "validation"), ("Verlust", "loss", None), ("häviö", "loss", None),
        ("rewards/chosen", "score", "chosen"), ("rewards/accuracies", "rate", None),
        ("reward_std", "other", None), ("logps/chosen", "other", "chosen"),
        ("entropy", "other", None), ("cross-entropy", "loss", None), ("gnorm", "norm", None),
        ("lr", "learning_rate", None), ("perplexity", "perplexity", None),
        ("Non-trainable params", "other", "train"), ("Trainable params", "trainable", "train"),
        ("step_time", "time", None), ("img/s", "throughput", None), ("rss_mb", "memory", None),
        ("auc@test", "rate", "test"), ("heldOutLoss", "loss", "test"), ("customers", "other", None),
        ("epoch", "other", None), ("dev", None, "validation"),
    ],
)  # fmt: skip
def test_a_name_tells_what_it_is_the_course_of(name, role, part):
    assert role_of(name) == (role, part)


def log_of(line, values):
    lines = [f"step {step} {line.format(value)}" for step, value in enumerate(values)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("line", "values", "expected"),
    [
        ("dev={}", [0.2, 0.4, 0.6], ("rate", 0.6)), ("dev={}", [2.2, 1.4, 0.6], ("loss", 0.6)),
        ("acc={}", [20.0, 40.0, 60.0], ("rate", 0.6)), ("acc={}", [0.2, 0.4, 0.6], ("rate", 0.6)),
        ("acc={}", [-0.5, 0.4, 0.6], ("score", 0.6)),
    ],
)  # fmt: skip
def test_values_tell_what_a_name_does_not(line, values, expected):
    (curve,) = curves_of(read_text("-", [log_of(line, values)]))
    assert (curve.role, curve.values[-1]) == expected


@pytest.mark.parametrize("last", [0.5, 0.9])
def test_neither_steps_nor_per_cent_change_what_is_said(last):
    def signs(every, whole):
        shares = np.linspace(0.5, last, 20)
        lines = [
            f"step {step * every} loss {loss:.4f} val_acc {share * whole:.4f}"
            for step, (loss, share) in enumerate(zip(FALLING, shares, strict=False))
        ]
        log = read_text("-", ["\n".join(lines).encode()])
        return {(sign.kind, sign.id) for sign, _ in observed(log)}

    assert signs(1, 1.0) == signs(7, 100.0)
    assert ("trap", "accuracy_constant") in signs(1, 1.0) or last > 0.5


def test_a_course_is_a_finding_that_can_be_looked_up():
    text = log_of("loss={}", [2.0, 1.9, 1.8, "nan"])
    log = read_text("-", [text])
    found = {sign.id: finding for sign, finding in observed(log) if sign.kind == "trap"}
    assert found["nan_suddenly"].line == 4
    assert look_up(found["nan_suddenly"], log, {"-": text}) == ("line", True)
    signs = {(sign.kind, sign.id) for sign, _ in observed(log)}
    assert ("unmeasured", "accuracy_zero") in signs


def test_tables_of_words_hold_each_word_once():
    for table in ("roles.csv", "parts.csv"):
        path = files("failbench.diagnose").joinpath("data", table)
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        words = [word for row in rows for word in row["words"].split(";")]
        assert len(words) == len(set(words))
        assert all(word == word.casefold().strip() for word in words)
