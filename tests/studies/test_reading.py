"""How much of a log is read: what its format shows, what is missed of it, and what is invented."""

from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from failbench.diagnose.readers.text import read_text
from failbench.field.corpus import TABLE, Console
from failbench.neighbours.rendering.formats import FORMATS, read_files, rendered
from failbench.neighbours.rendering.run import Writer, draw_shape
from made_up_logs import ENDINGS, made_up_run
from shared import reading

TEXT = "step 1 loss 0.5 lr 0.01\nstep 2 loss 0.25 lr 0.02\n"
VALUES = [reading.Value(*each) for each in (
    ("loss", 1, 0.5), ("learning_rate", 1, 0.01), ("loss", 2, 0.25), ("learning_rate", 2, 0.02),
)]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_all_that_a_format_shows_is_read_and_nothing_else(form, tmp_path):
    """But for losses on held-out data of one format, and steps of Keras behind a rank."""
    for seed, ending in enumerate(ENDINGS):
        rng = np.random.default_rng(seed)
        shape = replace(draw_shape(form, rng), prefixed=False)
        shape = replace(shape, validation=form != "composer")
        log = Writer(made_up_run(ending), shape, deepcopy(rng))
        written = rendered(log.run, form, shape, rng)
        found = reading.compared(reading.shown(log, form, written), read_files(written, tmp_path))
        counts = [found[name] for name in ("read", "steps_read", "invented")]
        assert counts == [found["values"], found["steps_in_text"], 0], ending
        assert found["values"] or form == "traceback_alone", ending


@pytest.mark.parametrize(("old", "new", "read", "right", "invented"), [
    ("", "", 4, 4, 0), ("0.25", "0.75", 3, 3, 1), ("step 2", "step 3", 4, 2, 0),
    ("lr 0.02", "val_loss 0.02", 3, 3, 1), ("0.02\n", "0.02\n" + "mae 7.5\n" * 2, 4, 4, 2),
])  # fmt: skip
def test_another_value_step_or_name_is_told(old, new, read, right, invented):
    found = reading.compared(VALUES, read_text("-", [TEXT.replace(old, new, 1).encode()]))
    assert list(found.values()) == [4, read, 4, right, invented, 1]


def test_numbers_of_the_field_are_counted_by_how_lines_are_written(tmp_path, monkeypatch):
    for folder, text in {"run": TEXT + "{'mae': 9.5}\n", "healthy": "odd 7.25\nodd 8.25\n"}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "console.txt").write_text(text)
    failing = Console(SimpleNamespace(name="one", folder=tmp_path), "run", "", None, None)
    both = [failing, failing._replace(run="healthy")]  # which declares nothing
    monkeypatch.setattr(reading, "consoles", lambda *_: both)
    logged = [("loss", 1, 0.5), ("loss", 2, 0.25), ("mae", None, 9.5), ("loss", 9, 0.125)]
    rows = [("one", "run", place, *each) for place, each in enumerate(logged)]
    numbers = pl.DataFrame(rows, TABLE.schema, orient="row")
    assert reading.field_reading(numbers, tmp_path, "development").rows() == [
        ("field", "all", 3, 3, 2, 2, 2, 2), ("field", "dict", 1, 1, None, None, None, 1),
        ("field", "pairs", 2, 2, None, None, None, 1),
    ]  # fmt: skip
