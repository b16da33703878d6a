"""Files of diagnoses: every format holds the same, whole or not at all."""

import json
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.diagnose.batch import DIAGNOSIS_SCHEMA, WRITERS, write_diagnoses, writer_of

EVIDENCE = DIAGNOSIS_SCHEMA["evidence"]
every_suffix = pytest.mark.parametrize("suffix", WRITERS)


def said(signal, value, threshold):
    return {"signal": signal, "value": value, "relation": "above", "threshold": threshold}


@pytest.fixture
def table():
    """Numbers without a short form, nothing where there is nothing, and text that needs care."""
    hostile = said("error_text", 'a, "b"\n\x1b[31mnull\r;é', "a.*")
    rows = [
        ("a", "simple_rules", "optimization", 0.1 + 0.2, None, 3, [said("x", "inf", "1e+300")]),
        ("a", "raw_text", "unknown", 1 / 3, None, None, [hostile, said("y", "nan", "0")]),
        ('b, "c"', "improved_rules", "abstain", 1.0, "low_confidence", 0, []),
    ]
    return pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")


def read_back(path):
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".csv":
        cells = DIAGNOSIS_SCHEMA | {"evidence": pl.String()}
        decoded = pl.col("evidence").str.json_decode(EVIDENCE)
        return pl.read_csv(path, schema=cells).with_columns(decoded)
    text = path.read_text(encoding="ascii")
    rows = json.loads(text) if path.suffix == ".json" else map(json.loads, text.splitlines())
    return pl.DataFrame(list(rows), schema=DIAGNOSIS_SCHEMA)


@every_suffix
def test_diagnoses_come_back_as_they_were_written(tmp_path, table, suffix):
    path = tmp_path / "new" / f"diagnoses{suffix}"
    write_diagnoses([table[:1], table[:0], table[1:]], path)
    assert_frame_equal(read_back(path), table, check_exact=True)
    assert [item.name for item in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [name for name in WRITERS if name != ".parquet"])
def test_no_terminal_escape_gets_into_a_text_file(tmp_path, table, suffix):
    path = tmp_path / f"diagnoses{suffix}"
    write_diagnoses([table.with_columns(run_id=pl.lit("a\x1b[2J\x9b"))], path)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", path.read_text(encoding="utf-8"))


def test_a_file_of_no_format_is_refused_with_the_choices(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    choices = r" Name a file that ends in \.parquet, \.csv, \.json, \.jsonl or \.ndjson\."
    for name, problem in {
        "diagnoses.xlsx": r"the suffix '\.xlsx' is of no supported format\.",
        "diagnoses": r"has no suffix that says its format\.",
        "folder.csv": r"is a folder\.",
    }.items():
        with pytest.raises(BadInputError, match=f"{name}: --output: {problem}{choices}"):
            writer_of(tmp_path / name)


@every_suffix
@pytest.mark.parametrize("raised", [KeyboardInterrupt, BadInputError("a", "b", "c.", "d.")])
def test_what_stops_half_way_leaves_the_old_file(tmp_path, table, raised, suffix):
    path = tmp_path / f"diagnoses{suffix}"
    write_diagnoses([table[:2]], path)
    before = path.read_bytes()

    def broken():
        yield table
        raise raised

    with pytest.raises((KeyboardInterrupt, BadInputError)):
        write_diagnoses(broken(), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == [path.name]
