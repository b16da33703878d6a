from __future__ import annotations

from failbench.base.methods import CATALOGUE
from failbench.study.labels import reads_true_category
from failbench.study.method_styles import METHOD_STYLES, method_styles

ADDED = ["llm_qwen_7b", "llm_gemma_9b"]


def test_every_method_of_the_catalogue_has_a_style():
    assert set(METHOD_STYLES) == {entry.name for entry in CATALOGUE}


def test_no_two_methods_have_the_same_marker_or_label():
    styles = method_styles([*METHOD_STYLES, *ADDED]).values()
    assert len({style.marker for style in styles}) == len(styles)
    assert len({style.label for style in styles}) == len(styles)


def test_hollow_are_those_that_are_handed_the_true_category():
    hollow = {name for name, style in METHOD_STYLES.items() if style.fill == "none"}
    assert hollow == {"simulated_human", "hybrid"}
    assert hollow == {name for name in METHOD_STYLES if reads_true_category(name)}


def test_methods_come_in_the_order_of_legends_and_added_ones_last():
    assert list(method_styles(["ebm", *ADDED, "simple_rules"])) == [
        "simple_rules",
        "ebm",
        *sorted(ADDED),
    ]
