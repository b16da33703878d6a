from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from failbench.errors import BadInputError
from failbench.reporting.style import METHOD_STYLES, save_svg
from failbench.scenarios import COUNTS
from failbench.studies.per_category.figure import DARK, draw_confusions
from failbench.vocabulary import ANSWERS, CATEGORIES

pytestmark = pytest.mark.usefixtures("project_style")


def made_up_confusions(methods=tuple(METHOD_STYLES)):
    rng = np.random.default_rng(0)
    rows = []
    for method in methods:
        for category in CATEGORIES:
            shares = rng.dirichlet(np.full(len(ANSWERS), 0.4))
            rows += [
                {
                    "feature_set": "19",
                    "method": method,
                    "category": category,
                    "answer": answer,
                    "scenarios": COUNTS[category] * share,
                    "share": share,
                }
                for answer, share in zip(ANSWERS, shares, strict=True)
            ]
    return pl.DataFrame(rows)


def texts_of(axes):
    return {
        (int(text.get_position()[1]), int(text.get_position()[0])): text
        for text in axes.texts
        if text.get_text()
    }


def test_a_panel_per_method_in_the_order_of_their_labels():
    figure = draw_confusions(made_up_confusions(("hybrid", "ebm", "simple_rules", "lightgbm")))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Simple rules", "LightGBM", "EBM", "Hybrid, three-way", "", ""]


def test_a_category_is_named_with_its_scenarios_however_many_the_paper_has():
    more = made_up_confusions(("ebm",)).with_columns(pl.col("scenarios") * 2)
    labels = [label.get_text() for label in draw_confusions(more).axes[0].get_yticklabels()]
    assert labels[0] == f"memory ({2 * COUNTS['memory_hardware']})"


def test_a_cell_is_the_percentage_of_its_row_and_nothing_below_one_half():
    confusions = made_up_confusions(("ebm",)).with_columns(
        share=pl.when(pl.col("answer") == "unknown").then(0.004).otherwise("share")
    )
    cells = texts_of(draw_confusions(confusions).axes[0])
    shares = {row[:2]: row[2] for row in confusions.select("category", "answer", "share").rows()}
    for row, category in enumerate(CATEGORIES):
        for column, answer in enumerate(ANSWERS):
            share = shares[category, answer]
            text = cells.get((row, column))
            assert (text is None) == (share < 0.005)
            if text is not None:
                assert text.get_text() == f"{100 * share:.0f}"
                assert (text.get_color() == "white") == (share >= DARK)


def test_no_two_texts_overlap_and_none_is_too_small_to_read():
    figure = draw_confusions(made_up_confusions())
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert figure.get_figwidth() == pytest.approx(6.9)
    shown = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in shown) >= 6
    for axes in figure.axes:
        boxes = [text.get_window_extent() for text in texts_of(axes).values()]
        assert not any(box.overlaps(other) for box, other in combinations(boxes, 2))


def test_a_method_without_a_label_is_refused():
    with pytest.raises(BadInputError, match="oracle"):
        draw_confusions(made_up_confusions(("oracle",)))


def test_the_same_confusions_give_the_same_bytes(tmp_path):
    for name in ("1.svg", "2.svg"):
        save_svg(draw_confusions(made_up_confusions(("ebm", "hybrid"))), tmp_path / name)
    assert (tmp_path / "1.svg").read_bytes() == (tmp_path / "2.svg").read_bytes()
