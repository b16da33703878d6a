from __future__ import annotations

import re

import polars as pl
import pytest

from failbench.reporting.captions import SCALE_NOTE


@pytest.fixture(scope="module")
def runs(repository):
    return pl.read_parquet(repository / "data/telemetry/runs.parquet")


def test_the_note_on_scale_says_what_was_recorded(runs):
    parameters = runs["parameters"].drop_nulls().to_numpy()
    assert f"{runs.height:,} runs on a CPU" in SCALE_NOTE
    assert set(runs["device"]) == {"cpu"}
    assert set(runs["layers"].drop_nulls()) == {2}
    assert runs["tokenizer_vocabulary"].drop_nulls().median() == 512
    assert (runs["planned_steps"].min(), runs["planned_steps"].max()) == (280, 320)
    least, most, median = re.findall(
        r"([\d.]+) to ([\d.]+) million parameters \(median ([\d.]+)", SCALE_NOTE
    )[0]
    assert f"{parameters.min() / 1e6:.2f}" == least
    assert f"{parameters.max() / 1e6:.0f}" == most
    assert f"{pl.Series(parameters).median() / 1e6:.2f}" == median
