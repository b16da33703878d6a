"""Wheel and source distribution: each builds, installs alone, and diagnoses what it should."""

import csv
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bare_environment import install
from failbench.base.telemetry import read_telemetry, write_parquet
from failbench.diagnose.answer import Status
from failbench.neighbours.rendering.formats import FORMATS, rendered
from failbench.neighbours.rendering.run import complete_shape, logged_run
from failbench.publish.page.document import SCRIPTS, STYLES

pytestmark = pytest.mark.system

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
FORMS = ("wheel", "sdist")
SMALL = 4_000_000
"""Bytes that a distribution may have; with the data it would have some ten times as many."""
LIGHT = 150e6
"""Bytes of an environment that only diagnoses logs; the extra `lab` has some ten times as many."""

EXIT: dict[Status, int] = {
    "healthy": 0, "failed": 1, "unknown": 3, "no_training_log": 4, "too_little": 5,
}  # fmt: skip
ERROR = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"


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
        how = ["--no-deps", "--ignore-installed", "--no-build-isolation"]
        pip = [*PIP, "--python", folder / "bin/python", "install", *how]
        subprocess.run([*pip, built[form]], check=True)
        folders[form] = folder
    return folders


@pytest.fixture(params=FORMS)
def environment(request, environments) -> Path:
    return environments[request.param]


def called(program, folder):
    environment, kept = {"PATH": "/usr/bin:/bin"}, {"capture_output": True, "text": True}
    return subprocess.run([*map(str, program)], cwd=folder, env=environment, check=False, **kept)


def test_it_is_installed_there_shows_its_help_and_diagnoses_a_small_log(environment, tmp_path):
    where = "import failbench.cli.main; print(failbench.cli.main.__file__)"
    imported = called([environment / "bin/python", "-c", where], tmp_path)
    assert imported.stdout.startswith(str(environment))
    command = environment / "bin/failbench"
    shown = called([command, "--help"], tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "say why a run failed, from its log" in " ".join(shown.stdout.split())
    steps = "".join(f"step {step} loss {3 - step / 10:.2f}\n" for step in range(12))
    (tmp_path / "train.log").write_text(steps + ERROR, encoding="utf-8")
    result = called([command, "diagnose", "train.log"], tmp_path)
    assert result.returncode == 1, result.stderr
    assert "model and software" in result.stdout.splitlines()[0]


@pytest.fixture(scope="module")
def telemetry(repository, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "telemetry"
    chosen = (pl.col("scenario") == "collation_without_padding") & (pl.col("kind") == "failure")
    recorded = read_telemetry(repository / "data/telemetry")
    runs = recorded.select(chosen & (pl.col("architecture") == "bert"))
    write_parquet(runs.runs, folder / "runs.parquet")
    write_parquet(runs.steps, folder / "steps/bert-adamw.parquet")
    return folder


def test_recorded_runs_are_diagnosed_beside_a_clone(environment, telemetry, repository, tmp_path):
    asked = [environment / "bin/failbench", "diagnose", telemetry, "--output", "named.csv"]
    without = called(asked, tmp_path)
    assert without.returncode == 2
    assert without.stderr.startswith("command line: --reference: ")
    assert without.stderr.count("\n") == 1
    result = called([*asked, "--reference", repository], tmp_path)
    assert result.returncode == 0, result.stderr
    with (tmp_path / "named.csv").open(encoding="utf-8", newline="") as stream:
        named = {row["run_id"]: row["diagnosis"] for row in csv.DictReader(stream)}
    runs = pl.read_parquet(telemetry / "runs.parquet")["run_id"]
    assert named == dict.fromkeys(runs, "data_pipeline")


def kept(repository: Path, folder: str) -> set[str]:
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    return set(subprocess.check_output(asked, cwd=repository, text=True).splitlines())


def test_the_wheel_holds_every_file_of_the_package(repository, built):
    assert all(built[form].stat().st_size < SMALL for form in FORMS)
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
    wanted |= {"requirements-field.lock"}
    assert held == wanted | {"PKG-INFO", ".gitignore"}


@pytest.fixture(scope="module")
def failed_run(repository):
    """A run that was ended by an error in mid-run, as a log could tell of it."""
    telemetry = read_telemetry(repository / "data/telemetry")
    wanted = (pl.col("scenario") == "collation_without_padding") & (pl.col("kind") == "failure")
    run = telemetry.runs.filter(wanted).sort("run_id").row(0, named=True)
    steps = telemetry.steps.filter(run_id=run["run_id"])
    return logged_run(run, steps, run["failure_step"])


WRITTEN = ["--json", "--html", "why.html"]


@pytest.mark.parametrize("name", FORMATS)
def test_an_example_of_each_format_is_diagnosed(environments, failed_run, tmp_path, name):
    files = rendered(failed_run, name, complete_shape(name), np.random.default_rng(0))
    for relative, content in files.items():
        path = tmp_path / "run" / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    command = [environments["wheel"] / "bin/failbench", "diagnose", "run"]
    result = called([*command, *WRITTEN, "--plot", "why.svg"], tmp_path)
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


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory) -> list[object]:
    """The command in an environment of the wheel, what it declares to need, and no extra."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    install(packages)
    subprocess.run([*PIP, "install", "--no-deps", "--target", packages, built["wheel"]], check=True)
    size = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file())
    assert size < LIGHT
    assert not (packages / "polars").exists()
    return [folder / "bin/python", "-m", "failbench.cli.main"]


def test_with_nothing_else_it_shows_its_help_and_says_what_more_a_study_needs(bare, tmp_path):
    shown = called([*bare, "--help"], tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "failbench diagnose train.log" in shown.stdout
    study = called([*bare, "check"], tmp_path)
    assert study.returncode == 2
    assert study.stderr == "failbench check: needs polars: pip install 'failbench[lab]'\n"


def test_with_nothing_else_it_diagnoses_what_the_monitor_has_written(bare, tmp_path):
    pytest.importorskip("torch", reason="a monitor watches a training")
    from failbench.monitor import Monitor
    from made_up_training import LOOPS

    with Monitor(tmp_path / "run", every=1) as monitor:
        LOOPS["adamw"].run(monitor, steps=10)
    result = called([*bare, "diagnose", "run", *WRITTEN], tmp_path)
    document = json.loads(result.stdout)
    assert result.returncode == EXIT[document["status"]]
    assert "loss" in document["signals"]["present"]
    assert (tmp_path / "why.html").stat().st_size > 1000
