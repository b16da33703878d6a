"""Language models that were added to params.yaml appear in tables and figures under their name."""

from __future__ import annotations

import pytest

from failbench.errors import BadInputError
from failbench.reporting.labels import METHOD_LABELS, in_label_order, method_label
from failbench.reporting.method_styles import METHOD_STYLES, method_styles
from failbench.studies.intervals.tables import Design, methods_table, scores_table
from failbench.studies.tradeoff.figure import tradeoff_picture
from failbench.studies.tradeoff.results import tradeoff_points

ADDED = ["llm_qwen_7b", "llm_gemma_9b", "llm_phi_4b"]


def test_an_added_model_is_called_by_its_name_and_stands_last():
    assert method_label("llm_qwen_7b") == "qwen 7b"
    assert in_label_order([*ADDED, "ebm", "simple_rules", "ebm"]) == [
        "simple_rules",
        "ebm",
        *sorted(ADDED),
    ]


def test_the_order_is_that_of_the_labels():
    assert in_label_order(reversed(METHOD_LABELS)) == list(METHOD_LABELS)


def test_added_models_have_one_colour_and_markers_of_their_own():
    styles = method_styles([*METHOD_STYLES, *ADDED])
    assert list(styles) == [*METHOD_STYLES, *sorted(ADDED)]
    assert len({one.marker for one in styles.values()}) == len(styles)
    colours = {styles[name].colour for name in (*ADDED, "mistral_7b", "llama_3_8b")}
    assert len(colours) == 1


def test_what_is_neither_known_nor_a_language_model_is_refused():
    for look_up in (method_label, lambda name: method_styles([name])):
        with pytest.raises(BadInputError, match="oracle"):
            look_up("oracle")


def test_tables_have_a_row_for_an_added_model(measured, reported):
    measured["19"]["llm_qwen_7b"] = measured["19"]["ebm"]
    design = Design(folds=5, repeats=10, runs=228, seeds=3, majority={"value": 0.25, "n": 76})
    rows = methods_table(measured, reported, design, confidence=0.95).rows
    (row,) = [cells for cells in rows if cells[0] == "qwen 7b"]
    assert row[1:6] == ("error text, step series", *["–"] * 4)
    assert "qwen 7b" in [cells[0] for cells in scores_table(measured, design, confidence=0.95).rows]


@pytest.mark.usefixtures("project_style")
def test_the_figure_of_the_trade_off_names_an_added_model(measured, reported):
    measured["19"]["llm_qwen_7b"] = measured["19"]["ebm"]
    figure = tradeoff_picture(tradeoff_points(measured, reported)).figure()
    assert "qwen 7b" in {text.get_text() for text in figure.axes[0].texts}
