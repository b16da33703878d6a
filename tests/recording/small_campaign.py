"""A real campaign that is small: its folder, its command, and what may be said of its processes."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

from failbench.base.telemetry import NOISY_STEP_COLUMNS, read_telemetry
from failbench.recording.fingerprint import corpus_cache as kept_corpus
from made_up_declarations import detector_params

SCENARIOS = ("evaluation_batch_too_large", "killed_by_operator")
"""Memory runs out at a stroke in the first: of a creeping leak an arena decides the last step."""
OUT_OF_MEMORY = f"{SCENARIOS[0]}-transformer-adamw-s0"
SUCCESSES = 10
RUNS = SUCCESSES + 2 * len(SCENARIOS)
CLI = [sys.executable, "-m", "failbench.cli.main"]
RECORD = [*CLI, "record", "--workers", "2", "--output", "out", "--only", *SCENARIOS]
JOURNAL = Path("data/.recording/out/transformer-adamw")
DETECTOR = detector_params()
PATIENCE = 300.0
"""Seconds after which a test gives up; nothing should take nearly so long."""


def make_folder(folder, ranges, corpus_cache):
    recorded = {
        "settings": {"transformer-adamw": {"seeds": 1, "successes": SUCCESSES}},
        "hang_seconds": 20,
        "wall_limit_seconds": 120,
        "nominal": ranges.model_dump(mode="json"),
    }
    params = {"record": recorded, "detector": DETECTOR.model_dump()}
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    shutil.copytree("data/scenarios", folder / "data" / "scenarios")
    (folder / "data" / ".recording").mkdir()
    shutil.copy(corpus_cache, kept_corpus(folder / "data" / ".recording"))
    return folder


def run(command, folder):
    kept = {"capture_output": True, "text": True, "timeout": PATIENCE}
    return subprocess.run(command, cwd=folder, check=False, **kept)


def record(folder, *options):
    done = run([*RECORD, *options], folder)
    assert done.returncode == 0, done.stderr
    return read_telemetry(folder / "out")


def deterministic(telemetry):
    """Both tables without what measures the machine."""
    runs = telemetry.runs.drop("wall_seconds", "capacity_bytes")
    return runs, telemetry.steps.drop(NOISY_STEP_COLUMNS)


def files_of(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def living_in_session(session):
    """Ids of the processes of a session that are neither dead nor zombies."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of_session = path.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of_session) == session and state not in "ZX":
            found.add(int(path.parent.name))
    return found
