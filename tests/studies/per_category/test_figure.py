from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.scenarios import COUNTS
from failbench.studies.per_category.figure import DARK, confusions_picture
from failbench.vocabulary import ANSWERS, CATEGORIES
from printed_pictures import assert_printable, assert_repeats

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


def test_a_panel_per_method_in_the_order_of_their_labels(reported):
    methods = ("hybrid", "ebm", "improved_rules", "lightgbm")
    figure = confusions_picture(made_up_confusions(methods), reported).figure()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "Improved rules",
        "Improved rules, reported",
        "LightGBM",
        "EBM",
        "Hybrid, three-way",
        "",
    ]


def test_a_category_is_named_with_its_scenarios_however_many_the_paper_has(reported):
    more = made_up_confusions(("ebm",)).with_columns(pl.col("scenarios") * 2)
    figure = confusions_picture(more, reported).figure()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[0] == f"memory ({2 * COUNTS['memory_hardware']})"


def test_a_cell_is_the_percentage_of_its_row_and_nothing_below_one_half(reported):
    confusions = made_up_confusions(("ebm",)).with_columns(
        share=pl.when(pl.col("answer") == "unknown").then(0.004).otherwise("share")
    )
    cells = texts_of(confusions_picture(confusions, reported).figure().axes[0])
    shares = {row[:2]: row[2] for row in confusions.select("category", "answer", "share").rows()}
    for row, category in enumerate(CATEGORIES):
        for column, answer in enumerate(ANSWERS):
            share = shares[category, answer]
            text = cells.get((row, column))
            assert (text is None) == (share < 0.005)
            if text is not None:
                assert text.get_text() == f"{100 * share:.0f}"
                assert (text.get_color() == "white") == (share >= DARK)


def test_the_papers_confusions_are_shares_of_their_rows(reported):
    figure = confusions_picture(made_up_confusions(("improved_rules",)), reported).figure()
    cells = {place: text.get_text() for place, text in texts_of(figure.axes[1]).items()}
    assert [cells.get((0, column)) for column in range(6)] == ["75", "15", None, "10", None, None]


def test_every_text_can_be_read(reported):
    assert_printable(confusions_picture(made_up_confusions(), reported))


@pytest.mark.parametrize("method", ["simulated_human", "invariants"])
def test_the_title_is_of_methods_that_were_told_nothing_of_the_scenarios(reported, method):
    confusions = made_up_confusions((method, "ebm"))
    told = confusions.with_columns(
        share=pl.when(pl.col("method") == method).then(1.0).otherwise("share")
    )
    alone = confusions_picture(told.filter(pl.col("method") == "ebm"), reported)
    assert confusions_picture(told, reported).title.startswith(alone.title)


def test_a_method_without_a_label_is_refused(reported):
    with pytest.raises(BadInputError, match="oracle"):
        confusions_picture(made_up_confusions(("oracle",)), reported)


def test_the_same_confusions_give_the_same_bytes(reported, tmp_path):
    assert_repeats(confusions_picture(made_up_confusions(("ebm", "hybrid")), reported), tmp_path)
