"""The command ``record``: in this process, or as shards in jobs of a cluster."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import mutually_exclusive

from failbench.base.errors import BadInputError
from failbench.cli.kinds import record_kinds
from failbench.cli.places import POSITIVE, TELEMETRY, refused, work_folder
from failbench.cli.record import INCOMPLETE, Wanted, record_settings
from failbench.cli.terminal import INTERRUPTED

if TYPE_CHECKING:
    from submitit import AutoExecutor

    from failbench.recording.plan import Shard

_DEFAULTS: dict[str, str | int] = {"name": "failbench", "timeout_min": 240}
"""Parameters of jobs that are not given; submitit's own limit would be a few minutes."""

_PASSES = 2  # the healthy runs of all shards, and then what is held to them

_POLL_SECONDS = {"slurm": 10.0, "local": 0.5, "debug": 0.0}

PARTS = Group("Parts of the plan", validator=mutually_exclusive)
JOBS = Group("Jobs of a cluster")


def record(
    wanted: Wanted | None = None,
    *,
    shard: Annotated[
        str | None, Parameter(help="I/N: only this part of the plan, without tables", group=PARTS)
    ] = None,
    merge: Annotated[
        bool, Parameter(help="only tables of what shards recorded", group=PARTS)
    ] = False,
    cluster: Annotated[
        Literal["slurm", "local", "debug"] | None,
        Parameter(help="a shard in each job, and the tables", group=PARTS),
    ] = None,
    jobs: Annotated[int | None, Parameter(help="shards of a cluster", group=JOBS), POSITIVE] = None,
    cluster_options: Annotated[
        Sequence[str],
        Parameter(
            help="KEY=VALUE, as submitit names them: timeout_min=60 slurm_partition=NAME",
            group=JOBS,
        ),
    ] = (),
) -> int:
    """Record the runs of params.yaml that are missing or out of date."""
    from failbench.recording.plan import Shard

    wanted = wanted or Wanted()
    if wanted.kinds:
        if shard is not None or merge or cluster is not None:
            problem = "are recorded in one process, not in shards or jobs."
            raise refused("--kinds", problem, "Leave out --shard, --merge and --cluster.")
        return record_kinds(wanted)
    if cluster is None:
        if jobs is not None or cluster_options:
            option = "--jobs" if jobs is not None else "--cluster-options"
            remedy = f"Name the cluster as well, one of {', '.join(_POLL_SECONDS)}."
            raise refused(option, "means nothing without --cluster.", remedy)
        return record_settings(wanted, None if shard is None else Shard.parse(shard), merge=merge)
    if jobs is None:
        raise refused("--jobs", "is missing.", "Say into how many jobs to divide the plan.")
    logs = work_folder(wanted.output or TELEMETRY) / "jobs"
    executor = job_executor(cluster, cluster_options, logs)
    parts = [Shard(number + 1, jobs) for number in range(jobs)]
    try:
        code = record_settings(wanted, merge=True)  # refuses what every job would refuse
        if code == INCOMPLETE:
            _record_parts(executor, cluster, parts, wanted)
            code = record_settings(wanted, merge=True)
    except KeyboardInterrupt:
        print("Stopped, and its jobs with it. The same command goes on where they stopped.")
        return INTERRUPTED
    if code == INCOMPLETE:
        print("The same command goes on with the runs that are missing.")
    return code


def _record_parts(
    executor: AutoExecutor, cluster: str, parts: Sequence[Shard], wanted: Wanted
) -> None:
    """Record shards until none of them can go on: a lost one may be what the others wait for."""
    waiting = parts
    for _ in range(_PASSES):
        commands = [shard_command(part, wanted) for part in waiting]
        codes = run_jobs(executor, cluster, waiting, commands)
        waiting = [part for part, code in codes.items() if code == INCOMPLETE]
        if not waiting or any(code not in (0, INCOMPLETE) for code in codes.values()):
            return


def shard_command(shard: Shard, wanted: Wanted) -> list[str]:
    """The command that records a shard of what is wanted."""
    command = [sys.executable, "-m", "failbench.cli.main", "record", "--shard", str(shard)]
    for name, value in asdict(wanted).items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, list | tuple):
            command += [flag, *map(str, value)] if value else []
        elif isinstance(value, bool):
            command += [flag] if value else []
        elif value is not None:
            command += [flag, str(value)]
    return command


def run_here(command: Sequence[str], folder: str) -> int:
    """In a job: run its shard's command as a process that has loaded no more than elsewhere."""
    return subprocess.run(command, cwd=folder, check=False).returncode


def job_executor(cluster: str, cluster_options: Sequence[str], logs: Path) -> AutoExecutor:
    """Submits jobs with the given parameters, and keeps their logs in a folder."""
    try:
        from submitit import AutoExecutor
    except ImportError as error:
        raise BadInputError(
            "pyproject.toml",
            "project.optional-dependencies.cluster",
            "jobs need the library submitit, which is not installed.",
            "Install the locked environment, or this extra.",
        ) from error
    parameters = dict(_DEFAULTS)
    for option in cluster_options:
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise refused("--cluster-options", f"{option!r} is not KEY=VALUE.", "Correct it.")
        parameters[name] = int(value) if value.isdecimal() else value
    try:
        executor = AutoExecutor(folder=logs, cluster=cluster)
    except RuntimeError as error:
        problem = f"{cluster} is not here ({error})."
        raise refused("--cluster", problem, "Use a machine that submits to it.") from error
    try:
        executor.update_parameters(**parameters)
    except (AssertionError, NameError, ValueError) as error:
        remedy = (
            "Give parameters as submitit names them, timeout_min=60 or slurm_partition=NAME say."
        )
        raise refused("--cluster-options", str(error).splitlines()[0], remedy) from error
    return executor


def run_jobs(
    executor: AutoExecutor, cluster: str, shards: Sequence[Shard], commands: list[list[str]]
) -> dict[Shard, int | None]:
    """Submit a command for each shard, and wait for all; a lost job has no exit status."""
    from submitit.helpers import as_completed

    try:
        jobs = executor.map_array(run_here, commands, [str(Path.cwd())] * len(commands))
    except RuntimeError as error:
        problem = f"{cluster} refuses the jobs ({str(error).splitlines()[0]})."
        raise refused("--cluster-options", problem, "Correct what it names.") from error
    of_job = {job.job_id: shard for job, shard in zip(jobs, shards, strict=True)}
    codes: dict[Shard, int | None] = {}
    try:
        for job in as_completed(jobs, poll_frequency=_POLL_SECONDS[cluster]):
            shard = of_job[job.job_id]
            code = codes[shard] = None if job.exception() is not None else int(job.result())
            if code not in (0, INCOMPLETE):
                print(
                    f"Shard {shard} was not recorded to its end: job {job.job_id} ended with "
                    f"{code or 'no'} exit status. Its logs are {job.paths.stdout} and "
                    f"{job.paths.stderr}.",
                    file=sys.stderr,
                )
    except KeyboardInterrupt:
        for job in jobs:
            job.cancel(check=False)
        raise
    return codes
