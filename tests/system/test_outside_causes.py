"""docs/outside_causes.md, followed to the letter in a folder that is no checkout."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
import yaml

from failbench.base.telemetry import read_telemetry
from pipeline import REPOSITORY

pytest.importorskip("torch", reason="recording needs the extra `record`")
pytestmark = pytest.mark.system

GUIDE = (REPOSITORY / "docs/outside_causes.md").read_text(encoding="utf-8")
EXAMPLE = REPOSITORY / "examples/outside_cause"
RUN = "byte_order_swapped-transformer-adamw-s0"
TIMEOUT = 900
"""Seconds for one command, on a slow machine too."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)


def execute(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(command)
    assert program == "failbench"
    return subprocess.run(
        [sys.executable, "-m", "failbench.cli.main", *arguments], cwd=folder, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}, text=True, check=False,
        timeout=TIMEOUT,
    )  # fmt: skip


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The folder in which all commands of the guide were executed, and what they printed."""
    folder = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("outside") / "causes")
    done = []
    for command in COMMANDS:
        done.append(execute(folder, command))
        assert done[-1].returncode == 0, f"{command}\n{done[-1].stdout}{done[-1].stderr}"
    return folder, done


def test_the_guide_shows_the_files_of_the_example():
    shown = {"json": "scenarios/data_pipeline/byte_order_swapped.json", "python": "faults.py"}
    for language, path in shown.items():
        assert blocks(language) == [(EXAMPLE / path).read_text(encoding="utf-8")]
        assert f"`{path}`" in GUIDE


def test_the_pair_is_recorded_and_ends_as_declared_beside_its_twin(followed):
    folder, (record, *_) = followed
    telemetry = read_telemetry(folder / "telemetry")
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    successes = params["record"]["settings"]["transformer-adamw"]["successes"]
    assert Counter(telemetry.runs["kind"]) == {"success": successes, "failure": 1, "twin": 1}
    failed = telemetry.runs.row(by_predicate=pl.col("run_id") == RUN, named=True)
    assert (failed["outcome"], failed["error_type"]) == ("crash", "IndexError")
    assert str(folder) not in failed["error_traceback"]
    assert record.stderr.splitlines()[-1] == (
        f"transformer-adamw: 0 kept, 2 as expected, 0 rejected, {successes + 2} of "
        f"{successes + 2} done"
    )


def test_the_work_lies_beside_the_telemetry_and_the_check_passes(followed):
    folder, (_, check, *_) = followed
    names = {path.name for path in folder.iterdir()} - {path.name for path in EXAMPLE.iterdir()}
    assert names - {"__pycache__"} == {"telemetry", "diagnoses.parquet"}
    (corpus,) = (folder / "telemetry/.recording").iterdir()
    assert corpus.name.startswith("corpus-")
    assert "1 of 1 failing runs pass with their twins" in check.stdout
    assert check.stdout.endswith("The check passes.\n")
    assert "too few" not in check.stdout


def test_the_run_is_diagnosed_and_scored_by_every_method(followed):
    folder, (*_, score, record) = followed
    diagnoses = pl.read_parquet(folder / "diagnoses.parquet")
    asked = ["simple_rules", "random_forest"]
    assert diagnoses.select("run_id", "method").rows() == [(RUN, name) for name in asked]
    first, *lines = score.stdout.splitlines()
    assert first == "1 failing run of 1 scenario"
    assert [line.partition(":")[0] for line in lines] == asked
    method = json.loads(record.stdout)["methods"]["simple_rules"]
    right = diagnoses["diagnosis"][0] == "data_pipeline"
    assert (method["right"], method["accuracy"]["value"]) == (int(right), float(right))


def test_only_a_changed_fault_is_recorded_again(followed, tmp_path):
    folder = shutil.copytree(followed[0], tmp_path / "copy")
    record, check, *_ = COMMANDS
    assert "12 kept" in execute(folder, record).stderr
    faults = folder / "faults.py"
    source = faults.read_text(encoding="utf-8")
    faults.write_text(source.replace("256 * low + high", "256 * low + high + 512"), "utf-8")
    outdated = execute(folder, check)
    assert outdated.returncode == 1
    assert "its fingerprint does not match the code" in outdated.stdout
    before = read_telemetry(folder / "telemetry").runs
    assert "11 kept" in execute(folder, record).stderr
    after = read_telemetry(folder / "telemetry").runs
    changed = after.join(before, on=["run_id", "wall_seconds"], how="anti")
    assert changed["run_id"].to_list() == [RUN]
    assert execute(folder, check).returncode == 0
