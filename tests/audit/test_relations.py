from __future__ import annotations

import pytest

from made_up_audit import check


@pytest.mark.parametrize(
    ("relation", "value", "fits"),
    [
        ("above", "47.4%", False),
        ("above", "51.5%", True),
        ("below", "51.5%", False),
        ("at_most", "47.4%", True),
        ("at_least", "47.4%", False),
    ],
)
def test_a_bound_is_held_over_the_rounding_of_all(relation, value, fits):
    actual = check("bound", value=value, relation=relation, parts=["26.3%", "25.0%"])
    assert (actual.verdict == "consistent") == fits


@pytest.mark.parametrize(("relation", "fits"), [("above", False), ("at_least", True)])
def test_equality_is_at_least_and_not_above(relation, fits):
    actual = check("bound", value=5, relation=relation, parts=[2, 3])
    assert (actual.verdict == "consistent") == fits


def test_one_quantity_is_quoted_alike_or_not():
    assert check("same", values=[["95.65%"], ["95.7%"], ["96%"]]).verdict == "consistent"
    assert check("same", values=[["95.65%"], ["95.6%"]]).verdict == "consistent"
    differ = check("same", values=[["87.0%", "100.0%"], ["93.2%", "98.0%"]])
    assert differ.verdict == "inconsistent"
    assert differ.computed == "87.0 % to 100.0 % against 93.2 % to 98.0 %"


def test_a_tie_is_no_largest():
    counts = {"one": 15, "other": 20, "third": 20}
    assert check("largest", name="other", values={"one": 15, "other": 20}).verdict == "consistent"
    assert check("largest", name="one", values=counts).verdict == "inconsistent"
    assert check("largest", name="other", values=counts).verdict == "inconsistent"


def test_a_range_holds_its_ends_and_nothing_beyond():
    assert check("within", values=[10, 100], range=[10, 100]).verdict == "consistent"
    beyond = check("within", values=[50, 110], range=[10, 100])
    assert (beyond.verdict, beyond.computed) == ("inconsistent", "110 beyond 10 to 100")


def test_what_has_nothing_to_compare_with_cannot_be_checked():
    actual = check("unverifiable", missing="the raters")
    assert (actual.verdict, actual.computed) == ("cannot be checked", "not given: the raters")
