"""The wheel alone diagnoses logs of every format, and needs little beside it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bare_environment import install
from failbench.base.telemetry import read_telemetry
from failbench.diagnose.answer import Status
from failbench.neighbours.rendering.formats import FORMATS, rendered
from failbench.neighbours.rendering.run import logged_run
from failbench.neighbours.rendering.shape import complete_shape

pytestmark = pytest.mark.system

EXIT: dict[Status, int] = {"healthy": 0, "failed": 1, "unknown": 3}


@pytest.fixture(scope="module")
def wheel(repository, tmp_path_factory) -> Path:
    """What the wheel holds, unpacked by pip."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    built = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, repository]
    subprocess.run([*pip, *built], check=True)
    (path,) = folder.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", path], check=True)
    return folder / "site"


@pytest.fixture(scope="module")
def failed_run(repository):
    """A run that was ended by an error in mid-run, as a log could tell of it."""
    telemetry = read_telemetry(repository / "data/telemetry")
    wanted = (pl.col("scenario") == "collation_without_padding") & (pl.col("kind") == "failure")
    run = telemetry.runs.filter(wanted).sort("run_id").row(0, named=True)
    steps = telemetry.steps.filter(run_id=run["run_id"])
    return logged_run(run, steps, run["failure_step"])


def diagnosed(wheel, folder, *arguments, stdin=None):
    return subprocess.run(
        [sys.executable, "-P", "-m", "failbench.cli.main", "diagnose", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(wheel), "PATH": "/usr/bin:/bin"},
        input=stdin,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("name", FORMATS)
def test_an_example_of_each_format_is_diagnosed(wheel, failed_run, tmp_path, name):
    files = rendered(failed_run, name, complete_shape(name), np.random.default_rng(0))
    for relative, content in files.items():
        path = tmp_path / "run" / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    result = diagnosed(wheel, tmp_path, "run", "--json", "--html", "why.html", "--plot", "why.svg")
    document = json.loads(result.stdout)
    assert result.returncode == EXIT[document["status"]]
    assert document["signals"]["present"]
    if any(b"stack expects each tensor" in content for content in files.values()):
        assert document["category"] == "data_pipeline"
        assert document["root_causes"][0]["id"] == "examples_not_padded"
    else:
        assert name == "llm_c_log", "every other format has the terminal's output beside it"
    assert (tmp_path / "why.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "why.svg").stat().st_size > 1000


def test_a_paste_is_read_from_standard_input(wheel, tmp_path):
    text = b"RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"
    result = diagnosed(wheel, tmp_path, "-", stdin=text)
    page = result.stdout.decode()
    assert result.returncode == 1
    assert "model and software" in page.splitlines()[0]
    assert "mat1 and mat2" in page


LIGHT = 150e6
"""Bytes of an environment that only diagnoses logs; the extra `lab` has some ten times as many."""


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel, what it declares to need, and no extra."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    install(packages)
    shutil.copytree(wheel, packages, dirs_exist_ok=True)
    return folder


def in_bare(bare, folder, *arguments):
    return subprocess.run(
        [bare / "bin/python", "-m", "failbench.cli.main", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_it_needs_is_small(bare):
    (packages,) = bare.glob("lib/python*/site-packages")
    size = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file())
    assert size < LIGHT
    assert not (packages / "polars").exists()


def test_with_nothing_else_it_shows_its_help_and_says_what_more_a_study_needs(bare, tmp_path):
    shown = in_bare(bare, tmp_path, "--help")
    assert shown.returncode == 0, shown.stderr
    assert "failbench diagnose train.log" in shown.stdout
    study = in_bare(bare, tmp_path, "check")
    assert study.returncode == 2
    assert study.stderr == "failbench check: needs polars: pip install 'failbench[lab]'\n"


def test_with_nothing_else_it_diagnoses_what_the_monitor_has_written(bare, tmp_path):
    pytest.importorskip("torch", reason="a monitor watches a training")
    from failbench.monitor import Monitor
    from made_up_training import LOOPS

    with Monitor(tmp_path / "run", every=1) as monitor:
        LOOPS["adamw"].run(monitor, steps=10)
    result = in_bare(bare, tmp_path, "diagnose", "run", "--json", "--html", "why.html")
    document = json.loads(result.stdout)
    assert result.returncode == EXIT[document["status"]]
    assert "loss" in document["signals"]["present"]
    assert (tmp_path / "why.html").stat().st_size > 1000
