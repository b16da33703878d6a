"""Language models that were added to params.yaml appear in tables and figures under their name."""

from __future__ import annotations

import pytest

from failbench.base.errors import BadInputError
from failbench.study.labels import METHOD_LABELS, in_label_order, method_label
from failbench.study.method_styles import METHOD_STYLES, method_styles

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
