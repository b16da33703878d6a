from __future__ import annotations

import json

import pytest

from failbench.crashes.language.telling import tell
from failbench.notebooks.summaries import Summary, parse_summary


def entry(size=10, **items):
    made = {"type": {"kind": "text", "class": "str"}, "value": {"value": "é" * size}}
    return made | ({"items": items} if items else {})


SUMMARY = Summary(
    ("b", "a", "gone", "c"),
    {
        "a": entry(20, x=entry(30, y=entry(40))),
        "b": entry(),
        "c": entry(50, z=entry(60)),
    },
    truncated=False,
)


def names_told(limit):
    told = tell(SUMMARY, limit)
    assert len(told.text) <= limit
    return told.cut, parse_summary(told.text)


def test_a_summary_that_fits_is_told_whole():
    assert names_told(10_000) == ("nothing", SUMMARY)
    length = len(tell(SUMMARY, 10_000).text)
    assert names_told(length)[0] == "nothing"


def test_parts_are_left_out_in_the_order_that_is_stated():
    cuts, seen = [], {}
    for limit in range(900, 60, -1):
        cut, told = names_told(limit)
        if cut not in seen:
            cuts.append(cut)
        seen[cut] = told
    assert cuts == ["nothing", "items_of_items", "items", "names"]
    assert "items" not in seen["items_of_items"].names["a"]["items"]["x"]
    assert seen["items_of_items"].names["c"] == SUMMARY.names["c"]
    assert not any("items" in each for each in seen["items"].names.values())
    assert seen["items"].names.keys() == SUMMARY.names.keys()
    assert seen["items"].relevant == SUMMARY.relevant


def test_without_a_name_the_summary_says_that_it_is_truncated_and_calls_none_absent():
    widths = {}
    for limit in range(900, 60, -1):
        cut, told = names_told(limit)
        assert told.truncated == (cut == "names")
        if cut == "names":
            widths.setdefault(tuple(told.names), told.absent)
    assert list(widths) == [("b", "a"), ("b",), ()]
    assert set(widths.values()) == {()}
    assert SUMMARY.absent == ("gone",)


def test_a_list_of_names_that_is_too_long_is_shortened_at_last():
    many = Summary(tuple(f"name_{number}" for number in range(100)), {}, truncated=False)
    told = tell(many, 200)
    shown = json.loads(told.text)
    assert told.cut == "names"
    assert shown["relevant"] == list(many.relevant[: len(shown["relevant"])])
    assert len(shown["relevant"]) > 5


def test_a_limit_below_an_empty_summary_is_an_error():
    with pytest.raises(ValueError, match="no summary has 10 characters"):
        tell(SUMMARY, 10)
