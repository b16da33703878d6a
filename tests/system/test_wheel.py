"""The wheel alone diagnoses logs of every format, in any directory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

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


def test_it_is_the_wheel_that_answers(wheel, tmp_path):
    program = "import failbench.cli.main; print(failbench.cli.main.__file__)"
    result = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(wheel)},
        capture_output=True,
        check=True,
    )
    assert result.stdout.decode().startswith(str(wheel))
