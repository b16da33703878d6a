from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from abstention import REASONS
from failbench.base.errors import BadInputError
from failbench.study.picture import POINTS, Picture, legend_outside, save_picture
from failbench.study.publication import check_style
from failbench.study.run_curves import run_curves, sheet_curves, sheet_signals
from failbench.study.style import (
    CATEGORY_COLOURS,
    FULL_WIDTH,
    HALF_WIDTH,
    LINE,
    METHOD_STYLES,
    TWIN,
)
from gallery import run_of
from hybrid import MEMBERS, RULES

pytestmark = pytest.mark.usefixtures("project_style")

TITLE = "Rules & trees are right on 57.1 % of the scenarios, forests on more of them than that"
DESCRIPTION = "A line from below < on the left to above > on the right."


def draw_with_legends(figure):
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1])
    axes.set_xlabel("across")
    axes.set_title("a panel")
    handles = [Line2D([], [], label=f"line {number}") for number in range(6)]
    legend_outside(figure, handles, columns=3)
    legend_outside(figure, handles, above=False, columns=6)


def picture(width=FULL_WIDTH):
    return Picture(TITLE, DESCRIPTION, width, 2.0, draw_with_legends)


@pytest.mark.parametrize("width", [FULL_WIDTH, HALF_WIDTH])
def test_title_legends_and_panels_stand_above_one_another_within_the_width(width):
    figure = picture(width).figure()
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    (title,) = figure.texts
    assert " ".join(title.get_text().split()) == " ".join(TITLE.split())
    box = title.get_window_extent(renderer)
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert figure.get_figwidth() == width
    above, below = (legend.get_window_extent(renderer) for legend in figure.legends)
    panel = figure.axes[0].get_tightbbox(renderer)
    assert figure.bbox.y1 >= box.y1 > box.y0 >= above.y1 > above.y0 >= panel.y1
    assert panel.y0 >= below.y1 > below.y0 >= 0


def test_a_saved_picture_has_its_title_and_description_first_and_the_same_bytes(tmp_path):
    paths = [tmp_path / "new" / name for name in ("first.svg", "second.svg")]
    for path in paths:
        save_picture(picture(), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    text = paths[0].read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert [child.text for child in list(root)[:2]] == [TITLE, DESCRIPTION]
    assert root.get("width") == f"{POINTS * FULL_WIDTH:g}pt"
    assert "Matplotlib" not in text
    assert "date" not in text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("font.size: 9\nfont.size 9\n", 2),
        ("font.size: 9\n\nfont.sise: 9\n", 3),
        ("axes.grid: perhaps\nfont.size: large and bold\n", 1),
        ("font.size: 9\naxes.grid: False\nfont.size: 8\n", 3),
    ],
)
def test_a_line_that_would_be_skipped_is_refused_by_its_number(tmp_path, text, line):
    path = tmp_path / "matplotlibrc"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        check_style(path)
    assert (error.value.place, error.value.field) == (str(path), f"line {line}")
    assert repr(text.splitlines()[line - 1]) in error.value.problem
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"", b"# nothing\n"])
def test_a_file_that_is_missing_or_no_text_or_empty_is_refused(tmp_path, content):
    path = tmp_path / "matplotlibrc"
    if content is not None:
        path.write_bytes(content)
    problem = r"\(file\): (is missing or is not text|has no settings)"
    with pytest.raises(BadInputError, match=problem):
        check_style(path)


LEAST_DISTANCE = 20.0
"""In CIE Lab; 2.3 is just noticed (Mahy, Van Eycken and Oosterlinck, 1994)."""

EYES = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
"""Of linear RGB, at full severity: Machado, Oliveira and Fernandes (2009), "A Physiologically-based
Model for Simulation of Color Vision Deficiency", table 1."""

TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""Of linear sRGB (IEC 61966-2-1), with its white point."""

PALETTES = {
    "categories": list(CATEGORY_COLOURS.values()),
    "reasons to abstain": [colour for _, colour in REASONS.values()],
    "routes of hybrids": [METHOD_STYLES[name].colour for name in (RULES, *MEMBERS.values())],
    "run and twin": [LINE, TWIN],
}


def lab(colour: str, eye: np.ndarray) -> np.ndarray:
    """CIE Lab of what an eye makes of a colour."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    ratio = TO_XYZ @ np.clip(eye @ linear, 0.0, 1.0) / TO_XYZ.sum(axis=1)
    edge = 6 / 29
    f = np.where(ratio > edge**3, np.cbrt(ratio), ratio / (3 * edge**2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(first: str, second: str, eye: np.ndarray) -> float:
    return float(np.linalg.norm(lab(first, eye) - lab(second, eye)))


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("palette", PALETTES)
def test_colours_of_a_palette_stay_apart_for_every_eye(palette, eye):
    red = lab("#FF0000", EYES["normal"])  # as published of this colour space
    assert red == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    for pair in combinations(PALETTES[palette], 2):
        assert distance(*pair, EYES[eye]) >= LEAST_DISTANCE, pair


def test_a_run_that_is_not_there_or_did_not_fail_has_no_curves(small_telemetry):
    twin = "runaway-transformer-adamw-s0-twin"
    for unknown, named in (("nobody", "'nobody'"), (twin, "run_id")):
        with pytest.raises(BadInputError, match=named):
            run_curves(small_telemetry, unknown)
    with pytest.raises(BadInputError, match=r"gallery\.run_id.*no failing run"):
        run_of(small_telemetry, twin)


def test_a_sheet_draws_the_signal_that_departs_most_from_the_twin_and_else_the_loss(
    small_telemetry,
):
    """Healthy runs differ by one unit at a step; a crash that leaves no trace has no signal."""
    twins = small_telemetry.select(pl.col("kind") == "twin")
    shifts = pl.col("run_id").rank("dense").cast(pl.Float64)
    names = ("loss", "gradient_norm", "learning_rate")
    healthy = replace(twins, steps=twins.steps.with_columns(pl.col(names) + shifts))
    later = small_telemetry.steps.with_columns(
        learning_rate=pl.when(pl.col("run_id").eq("late_crash-transformer-adamw-s0"))
        .then(pl.col("learning_rate") + 100.0 * (pl.col("step") >= 4))
        .otherwise("learning_rate")
    )
    chosen = sheet_signals(replace(small_telemetry, steps=later), healthy)
    signals = dict(chosen.select("scenario", "signal").iter_rows())
    assert signals == {"late_crash": "learning_rate", "no_start": None, "runaway": "loss"}
    drawn = sheet_curves(small_telemetry, chosen, every=1)
    assert set(drawn.filter(scenario="no_start")["signal"]) == {"loss"}
