"""Shards as jobs: on a scheduler, in local processes, and in this one."""

import os
import signal
import sys
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from small_campaign import JOURNAL, PATIENCE, RECORD, RUNS, deterministic, run, wait_until
from small_campaign import living_in_session as living

from failbench.base.telemetry import read_telemetry
from failbench.cli.cluster import job_executor, run_jobs, shard_command
from failbench.cli.main import main
from failbench.recording.plan import Shard

pytest.importorskip("submitit", reason="needs the extra `cluster`")

SHARDS = [Shard(number, 3) for number in (1, 2, 3)]
LOST = ["sh", "-c", "kill -9 $PPID"]
FAKE_SLURM = {
    # Runs each task of the array as a process, as the scheduler would on a node, and like it from
    # a copy of the script: submitit renames its own as soon as the jobs are submitted.
    "sbatch": """#!/bin/bash
tasks=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$1")
cp "$1" submitted
for task in $(seq 0 "$tasks"); do
  SLURM_JOB_ID=$((700 + task)) SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task SLURM_NTASKS=1 \\
    SLURM_JOB_NUM_NODES=1 SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 \\
    bash submitted >/dev/null 2>&1 &
  echo $! >"task-$task"
done
echo "Submitted batch job 7"
""",
    # Drops its own options: what follows them is the command.
    "srun": """#!/bin/bash
while [ "${1#-}" != "$1" ]; do
  case "$1" in --output|--error) shift;; esac
  shift
done
exec "$@"
""",
    "sacct": """#!/bin/bash
echo "JobID|State|NodeList"
for file in task-*; do
  state=COMPLETED
  kill -0 "$(cat "$file")" 2>/dev/null && state=RUNNING
  echo "7_${file#task-}|$state|here"
done
""",
    "scancel": "#!/bin/bash\n",
}


def exits_with(code):
    return [sys.executable, "-c", f"raise SystemExit({code})"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working folder on a fast file system: a job without a result is soon known as lost."""
    monkeypatch.setattr("submitit.Job._results_timeout_s", 1)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_jobs_on_slurm_are_one_array_and_a_lost_one_ends_no_other(project, monkeypatch, capsys):
    for name, text in FAKE_SLURM.items():
        (project / "bin").mkdir(exist_ok=True)
        (project / "bin" / name).write_text(text, encoding="utf-8")
        (project / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{project / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr("failbench.cli.cluster._POLL_SECONDS", {"slurm": 0.2})
    options = ["slurm_partition=night", "timeout_min=7"]
    executor = job_executor("slurm", options, project / "jobs")
    codes = run_jobs(executor, "slurm", SHARDS, [exits_with(0), LOST, exits_with(3)])
    assert codes == dict(zip(SHARDS, (0, None, 3), strict=True))
    script = (project / "submitted").read_text(encoding="utf-8")
    for line in ("--array=0-2", "--partition=night", "--time=7", "--job-name=failbench"):
        assert f"#SBATCH {line}" in script
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("Shard 2/3 was not recorded to its end: job 7_1 ended with no exit")


def test_a_job_gets_every_option_of_the_command(monkeypatch):
    calls = []

    def recorded(wanted, shard, *, merge):
        calls.append((wanted, shard))
        return 0

    monkeypatch.setattr("failbench.cli.cluster.record_settings", recorded)
    options = ["--architecture", "bert", "--only", "a", "b", "--minutes", "0", "--output", "out"]
    options += ["--faults", "one.py", "two.py", "--faults", "three.py", "--workers", "3"]
    assert main(["record", *options]) == 0
    command = shard_command(Shard(2, 4), calls[0][0])
    assert command[1:3] == ["-m", "failbench.cli.main"]
    assert main(command[3:]) == 0
    assert calls[1] == (calls[0][0], Shard(2, 4))
    assert calls[0][0].faults == ["one.py", "two.py", "three.py"]


LOCAL = "--cluster local --jobs 2 --cluster-options"
REFUSED = {
    "--jobs 2": "--jobs: means nothing without --cluster.",
    "--cluster-options a=b": "--cluster-options: means nothing without --cluster.",
    "--cluster local": "--jobs: is missing.",
    "--shard 3/2": "--shard: '3/2' is no part of a plan.",
    f"{LOCAL} fast": "--cluster-options: 'fast' is not KEY=VALUE.",
    f"{LOCAL} slurm_colour=red": "--cluster-options: Unknown argument 'colour' for executor",
    f"{LOCAL} timeout_min=soon": '--cluster-options: Parameter "timeout_min" expected type',
    "--cluster slurm --jobs 2": "--cluster: slurm is not here",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_no_cluster_can_do_ends_with_2_and_one_line(project, monkeypatch, capsys, options):
    monkeypatch.setenv("PATH", str(project))
    assert main(["record", *options.split()]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"command line: {REFUSED[options]}")
    assert told.count("\n") == 1


def test_what_every_job_would_refuse_is_refused_before_any_job(project, monkeypatch, capsys):
    command = ["record", "--cluster", "local", "--jobs", "2"]
    (project / "params.yaml").write_text("record: {}\n", encoding="utf-8")
    assert main(command) == 2
    assert not list(project.rglob("*_submitted.pkl"))
    monkeypatch.setitem(sys.modules, "submitit", None)
    assert main(command) == 2
    assert "the library submitit, which is not installed" in capsys.readouterr().err


ON_CLUSTER = ("--workers", "1", "--jobs", "2", "--cluster")


def assert_same_recordings(folder, telemetry):
    recorded = read_telemetry(folder / "out")
    for mine, theirs in zip(deterministic(recorded), deterministic(telemetry), strict=True):
        assert_frame_equal(mine, theirs)
    assert not (folder / JOURNAL).exists()


@pytest.mark.system
def test_jobs_in_this_process_record_what_one_command_records(uninterrupted, make_project):
    folder = make_project()
    done = run([*RECORD, *ON_CLUSTER, "debug"], folder)
    assert done.returncode == 0, done.stderr
    assert f"transformer-adamw: {RUNS} of {RUNS} runs are missing" in done.stdout
    told = f"transformer-adamw: {RUNS} runs are in out"
    assert told in done.stdout
    assert_same_recordings(folder, uninterrupted[1])
    again = run([*RECORD, *ON_CLUSTER, "debug"], folder)
    assert (again.returncode, again.stdout) == (0, f"{told}.\n")


def shards_running(session):
    """Processes of a session that record a shard, and not those that wait for it."""
    alive = living(session)
    words = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in alive}
    return {pid for pid in alive if b"--shard" in words[pid]}


@pytest.mark.system
def test_local_jobs_can_be_stopped_and_lost_and_resumed(uninterrupted, make_project, start):
    folder = make_project()
    process = start(folder, *ON_CLUSTER, "local")
    wait_until(lambda: len(list((folder / JOURNAL).glob("*.gz"))) >= 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    wait_until(lambda: not living(process.pid))
    assert 2 <= len(list((folder / JOURNAL).glob("*.gz"))) < RUNS

    process = start(folder, *ON_CLUSTER, "local")
    wait_until(lambda: len(shards_running(process.pid)) >= 2)
    os.kill(min(shards_running(process.pid)), signal.SIGKILL)
    assert process.wait(PATIENCE) == 3
    assert not (folder / "out").exists()

    done = run([*RECORD, *ON_CLUSTER, "local"], folder)
    assert done.returncode == 0, done.stderr
    assert_same_recordings(folder, uninterrupted[1])
