from functools import cache
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry, read_table
from failbench.neighbours.peers.recorder import (
    KINDS,
    digest_of,
    record_peers,
    renderer,
)
from failbench.neighbours.peers.verdicts import VERDICT_SCHEMA, VERDICT_TABLE

DATA = Path(__file__).parents[2] / "data"
SETTING = {"architecture": "transformer", "optimizer": "adamw", "scale": "small"}
SAME_EVERYWHERE = ("nanogpt", "trainer_state", "trainer_v5")
"""Formats without perplexity, whose last digit processors compute otherwise."""
INSTALLED = all(find_spec(name) is not None for name in ("runmedic", "training_doctor"))


@cache
def committed() -> pl.DataFrame:
    return VERDICT_TABLE.read(DATA / "peers/verdicts.parquet")


@cache
def asked_runs() -> pl.DataFrame:
    runs = read_table(DATA / "telemetry/runs.parquet", RUN_SCHEMA)
    setting = [pl.col(name) == value for name, value in SETTING.items()]
    return runs.filter(*setting, pl.col("kind").is_in(KINDS)).sort("run_id")


@cache
def some_runs() -> Telemetry:
    """Every thirtieth run, failing runs and healthy ones."""
    runs = asked_runs().gather_every(30)
    steps = read_table(DATA / "telemetry/steps/transformer-adamw.parquet", STEP_SCHEMA)
    kept = steps.join(runs.select("run_id"), on="run_id", how="semi")
    return Telemetry(runs, kept.sort("run_id", "step"))


@pytest.mark.parametrize("form", SAME_EVERYWHERE)
def test_the_peers_were_given_the_logs_that_are_rendered_today(form):
    render = renderer(some_runs())
    was = committed().filter(pl.col("format") == form, pl.col("peer") == "runmedic")
    digests = dict(was.select("run_id", "rendering").iter_rows())
    for run in some_runs().runs["run_id"]:
        assert digest_of(render(run, form)) == digests[run], run


@pytest.mark.system
@pytest.mark.skipif(not INSTALLED, reason="the extra `peers` is not installed")
def test_the_installed_peers_say_what_is_recorded(tmp_path):
    table = record_peers(tmp_path / "verdicts.parquet", some_runs(), lambda done, planned: None)
    same = committed().join(table.select("run_id"), on="run_id", how="semi")
    said = [name for name in VERDICT_SCHEMA if name != "rendering"]
    assert table.select(said).equals(same.sort("run_id", "format", "peer").select(said))
