"""What CONTRIBUTING.md says of files, commands and costs is so."""

from __future__ import annotations

import re

import polars as pl
import pytest
import yaml

from pipeline import REPOSITORY

TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(
    set(re.findall(r"`((?:data|docs|dvc|experiments|params|paper|src|tests|\.ci)[\w./<>]*)`", TEXT))
)
TWO_CORES = 2


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    return pl.read_parquet(REPOSITORY / "data/telemetry/runs.parquet")


@pytest.mark.parametrize("path", PATHS)
def test_every_path_that_it_names_is_there(path):
    assert list(REPOSITORY.glob(re.sub(r"<\w+>", "*", path.rstrip("/"))))


def test_every_make_target_that_it_names_is_in_the_makefile():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z-]+)", TEXT))
    assert named
    assert named <= set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))


def test_a_new_scenario_costs_what_it_says(runs):
    params = yaml.safe_load((REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
    (stated,) = re.findall(r"up to (\d+) runs, three seeds and their twins in seven settings", TEXT)
    settings = params["record"]["settings"].values()
    assert [wanted["seeds"] for wanted in settings] == [3] * 7
    assert int(stated) == sum(2 * wanted["seeds"] for wanted in settings)
    assert runs["wall_seconds"].mean() == pytest.approx(10, abs=0.5)


def test_recording_everything_again_costs_what_it_says(runs):
    stated = re.search(
        r"(\d+) to (\d+) minutes per setting on two cores, seven settings, ([\d,]+) runs",
        " ".join(TEXT.split()),
    )
    assert stated is not None
    seconds = runs.group_by("architecture", "optimizer").agg(pl.col("wall_seconds").sum())
    minutes = seconds["wall_seconds"] / TWO_CORES / 60
    assert seconds.height == 7
    assert int(stated[1]) == pytest.approx(minutes.min(), abs=1)
    assert int(stated[2]) == pytest.approx(minutes.max(), abs=1)
    assert int(stated[3].replace(",", "")) == runs.height
