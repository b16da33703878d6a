import polars as pl
import pytest

from preflight import judged

INDEX = ("crash", "token_ids_beyond_table", "IndexError: index out of range in self")
TARGET = ("crash", "label_outside_classes", "IndexError: Target 600")
SHAPES = ("crash", "shapes_mismatch", "RuntimeError: no")


def look(*said, **changes):
    """One look at a failing run of ``added_tokens``, with findings as severity, cause and error."""
    severities, causes, errors = ([each[place] for each in said] for place in range(3))
    known = {
        "scenario": "added_tokens",
        "run": "failing",
        "category": "data_pipeline",
        "cause": "token_ids_beyond_table",
        "ending": "exception",
        "raised": "IndexError",
        "error_message": "index out of range in self",
        "severities": severities,
        "causes": causes,
        "errors": errors,
    }
    lists = dict.fromkeys(("severities", "causes", "errors"), pl.List(pl.String))
    return judged(pl.DataFrame([known | changes], schema_overrides=lists)).row(0, named=True)


LOOKS = {
    "foreseen": ([INDEX], "failing", (True, True, True, True)),
    "nothing said": ([], "failing", (False, False, False, False)),
    "said of the twin": ([INDEX], "twin", (True, False, False, False)),
    "the first alone": ([TARGET, INDEX], "failing", (True, True, False, False)),
    "the first is wrong": ([SHAPES, INDEX], "failing", (True, False, False, False)),
}


@pytest.mark.parametrize(("said", "run", "counted"), LOOKS.values(), ids=LOOKS)
def test_the_first_crash_that_is_foreseen_counts_with_category_cause_and_text(said, run, counted):
    names = ("foreseen", "right_category", "right_cause", "right_text")
    row = look(*said, run=run)
    assert tuple(row[name] for name in names) == counted


def test_a_warning_foresees_no_crash_and_refused_memory_is_a_kind_whatever_raises_it():
    row = look(("warning", "token_ids_beyond_table", ""), ("note", "labels_wrong", ""))
    assert (row["foreseen"], row["said"], row["worst"]) == (False, True, "warning")
    assert row["all_causes"] == ["token_ids_beyond_table"]
    refused = look(raised="OSError", error_message="[Errno 12] Cannot allocate memory")
    assert (refused["kind"], look()["kind"]) == ("out of memory", "IndexError")
