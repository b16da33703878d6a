import math
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import made_up_answers as answers
from failbench.diagnose.outputs.curves import COLOURS, svg_of, write_plot
from failbench.diagnose.outputs.drawing import Mark, figure_of, labels_apart, places_of, thinned
from failbench.diagnose.readers.text import read_text


def log_of(text, name="train.log"):
    return read_text(name, [text.encode()])


def drawn(text, *findings, **changes):
    """Panels of a made-up answer to a log, by their titles, and the labels of its evidence."""
    cause = (answers.hypothesis("overfitting", 0.5, *findings),)
    figure = figure_of(
        answers.answer(log=log_of(text), hypotheses=cause, findings=findings, **changes)
    )
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    strip = panels.pop("", None)
    return panels, [] if strip is None else [text.get_text() for text in strip.texts]


def lines(axes, role, marker=None):
    own = [line for line in axes.lines if line.get_color() == COLOURS[role]]
    return own if marker is None else [line for line in own if line.get_marker() == marker]


def points(axes, split="train"):
    return [
        (float(x), float(y))
        for line in lines(axes, split)
        for x, y in zip(*line.get_data(), strict=True)
    ]


def test_there_is_a_panel_for_each_signal_with_held_out_losses_in_that_of_the_loss():
    panels, labels = drawn("step 1 loss 2.0 lr 0.1\nstep 2 loss 1.5 lr 0.1\nstep 2 val_loss 1.8")
    assert list(panels) == ["Loss", "Learning rate"]
    assert points(panels["Loss"]) == [(1, 2.0), (2, 1.5)]
    assert points(panels["Loss"], "validation") == [(2, 1.8)]
    assert labels == []
    panels, _ = drawn("step 1 loss 3\nstep 2 loss 2\nstep 1 loss 3\nstep 2 loss 1")
    assert len(lines(panels["Loss"], "train")) == 2, "steps that begin anew begin a new line"


def test_evidence_is_marked_at_its_step_with_its_number_and_value():
    text = "\n".join(f"step {step} loss {step / 10} grad_norm 1.0" for step in range(50))
    of_loss = answers.finding(step=30, value=3.0)
    of_words = answers.finding("died", step=45, signal="", value=None)
    far_outside = answers.finding("far", step=10**9)
    panels, labels = drawn(text, of_loss, of_words, far_outside)
    assert labels == ["1", "2"]
    for axes in panels.values():
        assert {30, 45} == {line.get_xdata()[0] for line in lines(axes, "evidence")}
    assert panels["Loss"].get_xlim()[1] < 60
    (ring,) = lines(panels["Loss"], "evidence", "o")
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (30, 3.0)
    assert lines(panels["Gradient norm"], "evidence", "o") == []


def test_nan_breaks_the_line_and_is_marked():
    panels, _ = drawn(answers.rows(100, broken_from=94))
    axes = panels["Loss"]
    (line,) = lines(axes, "train")
    assert np.isnan(line.get_ydata()[94:]).all()
    assert np.isfinite(line.get_ydata()[:94]).all()
    (crosses,) = [line for line in lines(axes, "broken") if len(line.get_xdata())]
    assert list(crosses.get_xdata()) == [94]
    assert "NaN or infinite" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert panels["Learning rate"].get_legend() is None


@pytest.mark.parametrize(
    "text",
    [
        "", "step 5 loss 3.0", "step 1 loss nan\nstep 2 loss nan",
        "step 1 loss 1e308 grad_norm 1e-320\nstep 2 loss -1e308 grad_norm 1e308", "loss 3.0",
        "step 1 loss inf\nstep 2 loss 2.0\nstep 3 loss -inf",
        "Traceback (most recent call last):\nValueError: no",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_any_log_is_drawn_without_a_complaint(text, tmp_path):
    for step in (None, 2, 10**18):
        found = answers.finding(step=step, value=math.nan)
        write_plot(
            answers.answer(log=log_of(text), findings=(found,), hypotheses=()),
            tmp_path / "plot.png",
        )
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


STYLE = {"lines.linewidth": 9, "svg.hashsalt": "x", "axes.axisbelow": False, "xtick.top": True}


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_answer_is_the_same_file_whatever_the_style_of_the_user(suffix, tmp_path):
    write_plot(answers.answer(), tmp_path / f"one.{suffix}")
    with mpl.rc_context(STYLE):
        write_plot(answers.answer(), tmp_path / f"two.{suffix}")
        assert mpl.rcParams["lines.linewidth"] == 9
    one, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert b"dc:date" not in one
    assert b"CreationDate" not in one


def test_nothing_of_the_log_s_words_is_drawn():
    picture = svg_of(answers.hostile())
    assert "alert" not in picture
    assert "loud" not in picture


@pytest.mark.parametrize(
    ("text", "unit", "places"),
    [
        ("step 10 loss 3\nstep 20 loss 2", "step", [10, 20]),
        ("step 10 loss 3\nval_loss: 2.0\nstep 20 loss 2", "step", [10, 15, 20]),
        ("Epoch 1 loss: 3.0 val_loss: 2.0\nEpoch 2 loss: 2.0", "epoch", [1, 1, 2]),
        ("loss 3.0\nloss 2.0", "row", [1, 2]),
        ("step 1 loss 2\nstep 2 loss 2\n" * 6, "row", list(range(1, 13))),
        ("epoch 1 loss 3.0\nepoch 1 loss 2.0\nepoch 1 loss 1.5", "row", [1, 2, 3]),
        ("step 1 loss 3\nstep 2 loss 2\nstep 1 loss 3", "step", [1, 2, 1]),
    ],
)
def test_rows_stand_at_their_step_else_epoch_else_in_their_order(text, unit, places):
    found = places_of(log_of(text))
    assert found.unit == unit
    assert list(found.of_rows) == places


@settings(max_examples=50, deadline=None)
@given(
    y=arrays(np.float64, st.integers(0, 3_000), elements=st.floats(width=64)),
    most=st.integers(5, 300),
)
def test_thinning_keeps_order_extremes_ends_and_that_there_was_a_gap(y, most):
    x = np.arange(float(len(y)))
    kept_x, kept_y = thinned(x, y, most)
    assert len(kept_x) <= most
    assert (np.diff(kept_x) > 0).all()
    assert np.array_equal(kept_y, y[kept_x.astype(int)], equal_nan=True)
    finite, kept = y[np.isfinite(y)], kept_y[np.isfinite(kept_y)]
    if finite.size:
        assert (kept.min(), kept.max()) == (finite.min(), finite.max())
    assert np.isfinite(kept_y).all() == np.isfinite(y).all()
    if y.size:
        assert {x[0], x[-1]} <= set(kept_x)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=40))
def test_labels_never_touch_and_name_every_mark(places):
    marks = [Mark(at, number, "", None) for number, at in enumerate(places, start=1)]
    labels = labels_apart(marks, 7.0)
    for left, right in pairwise(labels):
        room = 7.0 * (right.at - left.at)
        assert room >= 0.08 * (len(left.text) + len(right.text)) / 2
    named = set()
    for part in ", ".join(label.text for label in labels).split(", "):
        first, _, last = part.partition("–")
        if first:
            named |= set(range(int(first), int(last or first) + 1))
    assert named == {mark.number for mark in marks}
