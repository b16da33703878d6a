"""Shards as jobs: on a scheduler, in local processes, and in this one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from small_campaign import (
    JOURNAL,
    PATIENCE,
    RECORD,
    RUNS,
    deterministic,
    living_in_session,
    wait_until,
)

from failbench.base.telemetry import read_telemetry
from failbench.cli.cluster import job_executor, run_jobs, shard_command
from failbench.cli.main import main
from failbench.recording.plan import Shard

pytest.importorskip("submitit", reason="needs the extra `cluster`")

SHARDS = [Shard(number, 3) for number in (1, 2, 3)]
LOST = ["sh", "-c", "kill -9 $PPID"]
"""A command that kills the job it runs in."""


def exits_with(code):
    return [sys.executable, "-c", f"raise SystemExit({code})"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working folder on a fast file system: a job without a result is soon known as lost."""
    monkeypatch.setattr("submitit.Job._results_timeout_s", 1)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_local_jobs_say_how_they_ended_and_a_lost_one_ends_no_other(project, capsys):
    executor = job_executor("local", [], project / "jobs")
    codes = run_jobs(executor, "local", SHARDS, [exits_with(1), LOST, exits_with(0)])
    assert codes == {SHARDS[0]: 1, SHARDS[1]: None, SHARDS[2]: 0}
    told = sorted(capsys.readouterr().err.splitlines())
    assert [line.partition(" was not")[0] for line in told] == ["Shard 1/3", "Shard 2/3"]
    assert "with 1 exit status" in told[0]
    assert str(project / "jobs") in told[1]


def test_debug_runs_the_jobs_one_after_the_other_from_the_working_folder(project):
    executor = job_executor("debug", [], project / "jobs")
    command = ["sh", "-c", 'echo "$0" >>order']
    codes = run_jobs(executor, "debug", SHARDS, [[*command, str(shard)] for shard in SHARDS])
    assert codes == dict.fromkeys(SHARDS, 0)
    assert (project / "order").read_text(encoding="utf-8") == "1/3\n2/3\n3/3\n"


def test_a_job_gets_every_option_of_the_command(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "failbench.cli.cluster.record_settings",
        lambda wanted, shard, *, merge: calls.append((wanted, shard)) or 0,
    )
    options = ["--architecture", "bert", "--only", "a", "b", "--minutes", "0", "--output", "out"]
    options += ["--faults", "one.py", "two.py", "--faults", "three.py", "--workers", "3"]
    assert main(["record", *options]) == 0
    command = shard_command(Shard(2, 4), calls[0][0])
    assert command[1:3] == ["-m", "failbench.cli.main"]
    assert main(command[3:]) == 0
    assert calls[1] == (calls[0][0], Shard(2, 4))
    assert calls[0][0].faults == ["one.py", "two.py", "three.py"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--jobs", "2"], "--jobs: means nothing without --cluster."),
        (["--cluster-options", "a=b"], "--cluster-options: means nothing without --cluster."),
        (["--cluster", "local"], "--jobs: is missing."),
        (["--shard", "3/2"], "--shard: '3/2' is no part of a plan."),
        (
            ["--cluster", "local", "--jobs", "2", "--cluster-options", "fast"],
            "--cluster-options: 'fast' is not KEY=VALUE.",
        ),
        (
            ["--cluster", "local", "--jobs", "2", "--cluster-options", "slurm_colour=red"],
            "--cluster-options: Unknown argument 'colour' for executor 'slurm'",
        ),
        (
            ["--cluster", "local", "--jobs", "2", "--cluster-options", "timeout_min=soon"],
            '--cluster-options: Parameter "timeout_min" expected type',
        ),
        (["--cluster", "slurm", "--jobs", "2"], "--cluster: slurm is not here"),
    ],
)
def test_what_no_cluster_can_do_ends_with_2_and_one_line(
    project, monkeypatch, capsys, options, complaint
):
    monkeypatch.setenv("PATH", str(project))
    assert main(["record", *options]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"command line: {complaint}")
    assert told.count("\n") == 1


def test_submitit_that_is_not_installed_is_named(project, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "submitit", None)
    assert main(["record", "--cluster", "local", "--jobs", "2"]) == 2
    assert "the library submitit, which is not installed" in capsys.readouterr().err


def test_an_option_that_every_job_would_refuse_is_refused_before_there_are_jobs(project, capsys):
    (project / "params.yaml").write_text("record: {}\n", encoding="utf-8")
    assert main(["record", "--cluster", "local", "--jobs", "2"]) == 2
    assert not list(project.rglob("*_submitted.pkl"))


def on_cluster(folder, *options):
    return subprocess.run(
        [*RECORD, "--workers", "1", "--jobs", "2", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def assert_same_recordings(folder, telemetry):
    recorded = read_telemetry(folder / "out")
    for mine, theirs in zip(deterministic(recorded), deterministic(telemetry), strict=True):
        assert_frame_equal(mine, theirs)
    assert not (folder / JOURNAL).exists()


@pytest.mark.system
def test_jobs_in_this_process_record_what_one_command_records(uninterrupted, make_project):
    folder = make_project()
    done = on_cluster(folder, "--cluster", "debug")
    assert done.returncode == 0, done.stderr
    assert f"transformer-adamw: {RUNS} of {RUNS} runs are missing" in done.stdout
    assert f"transformer-adamw: {RUNS} runs are in out" in done.stdout
    assert_same_recordings(folder, uninterrupted[1])
    again = on_cluster(folder, "--cluster", "debug")
    assert again.returncode == 0
    assert again.stdout == f"transformer-adamw: {RUNS} runs are in out.\n"


def shards_running(session):
    """Processes of a session that record a shard, and not those that wait for it."""
    running = set()
    for pid in living_in_session(session):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"--shard" in words:
            running.add(pid)
    return running


@pytest.mark.system
def test_local_jobs_can_be_stopped_and_lost_and_the_same_command_goes_on(
    uninterrupted, make_project, start
):
    folder = make_project()
    options = ("--workers", "1", "--jobs", "2", "--cluster", "local")

    process = start(folder, *options)
    wait_until(lambda: len(list((folder / JOURNAL).glob("*.gz"))) >= 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    wait_until(lambda: not living_in_session(process.pid))
    kept = {path: path.read_bytes() for path in (folder / JOURNAL).glob("*.gz")}
    assert 2 <= len(kept) < RUNS

    process = start(folder, *options)
    wait_until(lambda: len(shards_running(process.pid)) >= 2)
    os.kill(min(shards_running(process.pid)), signal.SIGKILL)
    assert process.wait(PATIENCE) == 3
    assert not (folder / "out").exists()

    done = on_cluster(folder, "--cluster", "local")
    assert done.returncode == 0, done.stderr
    assert_same_recordings(folder, uninterrupted[1])
