"""Wheel and source distribution: each builds, installs alone in its environment, and runs."""

from __future__ import annotations

import csv
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

from failbench.base.telemetry import read_telemetry, write_parquet
from failbench.publish.page.document import SCRIPTS, STYLES

pytestmark = pytest.mark.system

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
FORMS = ("wheel", "sdist")
SMALL = 4_000_000
"""Bytes that a distribution may have; with the data it would have some ten times as many."""
LEFT_OUT = ("data/", "examples/", "experiments/", "figures/", "paper/", "tests/", "dvc.")
"""What is in the repository alone: what needs the data, and the data."""


@pytest.fixture(scope="module")
def built(repository, tmp_path_factory) -> dict[str, Path]:
    """The source distribution, and the wheel that is built from it and from nothing else."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, repository]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.fixture(scope="module")
def environments(built, tmp_path_factory) -> dict[str, Path]:
    """An environment for each, with the libraries of this one and without this failbench."""
    folders = {}
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    for form in FORMS:
        folder = tmp_path_factory.mktemp(form) / "environment"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        (packages / "libraries.pth").write_text("\n".join(libraries) + "\n", encoding="utf-8")
        pip = [
            *PIP,
            "--python",
            folder / "bin/python",
            "install",
            "--no-deps",
            "--ignore-installed",
        ]
        subprocess.run([*pip, "--no-build-isolation", built[form]], check=True)
        folders[form] = folder
    return folders


@pytest.fixture(params=FORMS)
def environment(request, environments) -> Path:
    return environments[request.param]


def failbench(environment: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the installed command in a folder, with nothing of this process about it."""
    return subprocess.run(
        [environment / "bin/failbench", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_installed_there(environment, tmp_path):
    program = "import failbench.cli.main; print(failbench.cli.main.__file__)"
    result = subprocess.run(
        [environment / "bin/python", "-c", program],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith(str(environment))


def test_it_shows_its_help(environment, tmp_path):
    result = failbench(environment, tmp_path, "--help")
    assert result.returncode == 0, result.stderr
    assert "say why a run failed, from its log" in " ".join(result.stdout.split())


def test_it_diagnoses_a_small_log(environment, tmp_path):
    log = tmp_path / "train.log"
    steps = "".join(f"step {step} loss {3 - step / 10:.2f}\n" for step in range(12))
    error = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"
    log.write_text(steps + error, encoding="utf-8")
    result = failbench(environment, tmp_path, "diagnose", "train.log")
    assert result.returncode == 1, result.stderr
    assert "model and software" in result.stdout.splitlines()[0]


@pytest.fixture(scope="module")
def telemetry(repository, tmp_path_factory) -> Path:
    """Three failing runs, recorded, in a folder of their own."""
    folder = tmp_path_factory.mktemp("runs") / "telemetry"
    chosen = (pl.col("scenario") == "collation_without_padding") & (pl.col("kind") == "failure")
    recorded = read_telemetry(repository / "data/telemetry")
    runs = recorded.select(chosen & (pl.col("architecture") == "bert"))
    write_parquet(runs.runs, folder / "runs.parquet")
    write_parquet(runs.steps, folder / "steps/bert-adamw.parquet")
    return folder


def test_it_names_the_causes_of_recorded_runs_beside_a_clone(
    environment, telemetry, repository, tmp_path
):
    asked = ("diagnose", str(telemetry), "--output", "named.csv", "--reference", str(repository))
    result = failbench(environment, tmp_path, *asked)
    assert result.returncode == 0, result.stderr
    with (tmp_path / "named.csv").open(encoding="utf-8", newline="") as stream:
        named = {row["run_id"]: row["diagnosis"] for row in csv.DictReader(stream)}
    runs = pl.read_parquet(telemetry / "runs.parquet")["run_id"]
    assert named == dict.fromkeys(runs, "data_pipeline")


def test_without_one_it_says_what_it_needs_in_a_line(environment, telemetry, tmp_path):
    result = failbench(environment, tmp_path, "diagnose", str(telemetry), "--output", "named.csv")
    assert result.returncode == 2
    assert result.stderr.startswith("command line: --reference: ")
    assert result.stderr.count("\n") == 1


def kept(repository: Path, folder: str) -> set[str]:
    """The files of a folder that git has, or would take."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    return set(subprocess.check_output(asked, cwd=repository, text=True).splitlines())


def test_the_wheel_holds_every_file_of_the_package(repository, built):
    with zipfile.ZipFile(built["wheel"]) as wheel:
        held = {f"src/{name}" for name in wheel.namelist() if name.startswith("failbench/")}
    assert held == kept(repository, "src/failbench")
    assert {f"src/failbench/publish/page/assets/{name}" for name in (*STYLES, *SCRIPTS)} <= held


def test_the_source_distribution_holds_what_builds_and_explains_it(repository, built):
    with tarfile.open(built["sdist"]) as sdist:
        held = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    wanted = kept(repository, "src/failbench") | kept(repository, "docs")
    wanted |= {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md"}
    wanted |= {"pyproject.toml", "requirements.lock", "requirements-record.lock"}
    assert wanted <= held
    assert [path for path in held if path.startswith(LEFT_OUT)] == []
    assert held - wanted == {"PKG-INFO", ".gitignore"}


@pytest.mark.parametrize("form", FORMS)
def test_it_is_small(built, form):
    assert built[form].stat().st_size < SMALL
