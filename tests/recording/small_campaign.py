"""A real campaign that is small: its folder, its command, and what may be said of its processes."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

from failbench.base.telemetry import NOISY_STEP_COLUMNS, read_telemetry
from failbench.recording.fingerprint import corpus_cache as kept_corpus

SCENARIOS = ("evaluation_batch_too_large", "killed_by_operator")
"""One that runs out of memory at a stroke: which step of a creeping leak is the last is decided by
an arena more or less, where the system does not let the recorder fix the address layout."""
OUT_OF_MEMORY = f"{SCENARIOS[0]}-transformer-adamw-s0"
SUCCESSES = 10
RUNS = SUCCESSES + 2 * len(SCENARIOS)
RECORD = [
    sys.executable,
    "-m",
    "failbench.cli.main",
    "record",
    "--workers",
    "2",
    "--output",
    "out",
    "--only",
    *SCENARIOS,
]
JOURNAL = Path("data/.recording/out/transformer-adamw")
DETECTOR = {
    "deviations": 3,
    "consecutive_steps": 20,
    "head_steps": 60,
    "tail_steps": 20,
    "validations": 3,
    "slow_factor": 2.0,
    "worse_nats": 0.05,
}
PATIENCE = 300.0
"""Seconds after which a test gives up; nothing should take nearly so long."""


def make_folder(folder, ranges, corpus_cache):
    """Fill a folder to record in: small ranges, the committed scenarios and a corpus."""
    params = {
        "record": {
            "settings": {"transformer-adamw": {"seeds": 1, "successes": SUCCESSES}},
            "hang_seconds": 20,
            "wall_limit_seconds": 120,
            "nominal": ranges.model_dump(mode="json"),
        },
        "detector": DETECTOR,
    }
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    shutil.copytree("data/scenarios", folder / "data" / "scenarios")
    (folder / "data" / ".recording").mkdir()
    shutil.copy(corpus_cache, kept_corpus(folder / "data" / ".recording"))
    return folder


def record(folder, *options):
    done = subprocess.run(
        [*RECORD, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return read_telemetry(folder / "out")


def deterministic(telemetry):
    """Both tables without what measures the machine."""
    return telemetry.runs.drop("wall_seconds", "capacity_bytes"), telemetry.steps.drop(
        NOISY_STEP_COLUMNS
    )


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
