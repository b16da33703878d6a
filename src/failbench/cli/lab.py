"""The commands that keep the benchmark and ask the tools of others."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.cli import places
from failbench.cli.options import Faults, Only, Output, Params, Telemetry
from failbench.cli.places import MONITORED, SCENARIOS, TELEMETRY
from failbench.cli.record import read_causes
from failbench.cli.terminal import interruptible, progress_meter


def check(
    *,
    telemetry: Telemetry = TELEMETRY,
    scenarios: Annotated[Path, Parameter(help="their folder", show_default=True)] = SCENARIOS,
    faults: Faults = (),
    params: Params = None,
    brief: Annotated[bool, Parameter(help="leave out the runs that pass")] = False,
) -> int:
    """Check scenarios, telemetry and code against each other."""
    from failbench.base.detector import DetectorParams
    from failbench.base.telemetry import read_telemetry
    from failbench.recording.plan import RecordParams
    from failbench.recording.validity.check import check, report

    causes = read_causes(scenarios, faults)
    file = places.params_file(params)
    checked = check(
        causes.scenarios,
        read_telemetry(telemetry),
        read_section("record", RecordParams, file),
        read_section("detector", DetectorParams, file),
        causes.outside.codes,
        benchmark=causes.are_of_the_benchmark,
    )
    print(report(checked, brief=brief))
    return 0 if checked.passed else 1


def compare(*, against: Annotated[str, Parameter(help="a revision")] = "HEAD") -> int:
    """Compare the results in the working tree with those of a revision."""
    from failbench.publish.reproduction.comparison import compare, read_revision, report

    comparison = compare(read_revision(Path(), against))
    print(report(comparison, against))
    return 1 if comparison.changed else 0


def reruns(
    parameter: Annotated[str, Parameter(help="a section of params.yaml, or section.key")], /
) -> int:
    """Print the stages that a change of a parameter runs again."""
    from failbench.publish.reproduction.reruns import Pipeline

    pipeline = Pipeline(Path())
    names = pipeline.reruns(parameter)
    print(f"A change of {parameter} runs {len(names)} of {len(pipeline.stages)} stages again:")
    print("\n".join(names))
    return 0


def freeze(
    version: str,
    /,
    *,
    date: Annotated[datetime.date, Parameter(help="as 2026-11-22")],
    changed: Annotated[str, Parameter(help="what changed against the version before")] = "",
    why: Annotated[str, Parameter(help="and the reason")] = "",
) -> int:
    """Freeze catalogue, precedence and bounds of the monitor, and print their hash."""
    from failbench.base.slices import ReferenceStudy
    from failbench.monitor.bounds import REFERENCE
    from failbench.monitor.records.fitting import setting_of
    from failbench.monitor.records.versions import BOUNDS, VERSIONS
    from failbench.recording.validity.freezing import freeze, frozen_hash

    frozen = freeze(MONITORED, version, date, changed, why)
    name = setting_of(read_section("nested_cv", ReferenceStudy).model_dump())
    reference = MONITORED / VERSIONS / version / BOUNDS / f"{name}.json"
    if reference.exists():
        shutil.copyfile(reference, REFERENCE)
    print(f"Version {version} of {frozen.date}: {frozen_hash(frozen)}")
    print(f"Bounds of {', '.join(frozen.all_bounds())}")
    return 0


def external_default(
    folder: Annotated[Path, Parameter(help="with the released files")],
    /,
    *,
    output: Output = places.EXTERNAL_DEFAULT,
) -> int:
    """Check the CSV files that the authors of DEFault released, and write them as parquet."""
    from failbench.neighbours.external import copy_released

    for path in copy_released(folder, output):
        print(path)
    return 0


def outside_list(*, only: Only = (), output: Output = places.OUTSIDE_LIST) -> int:
    """Run programs with bugs that others published, each with its healthy twin."""
    from failbench.monitor.records.tables import write_monitored
    from failbench.neighbours.outside_list.bugs import BUGS, SETTING, read_bugs, record

    bugs = {bug.id: bug for bug in read_bugs(places.OUTSIDE_LIST / BUGS) if bug.is_recreated}
    for name in only:
        if name not in bugs:
            problem = f"{name!r} is no bug that is re-created."
            raise BadInputError("--only", "BUG", problem, f"Name one of {', '.join(bugs)}.")
    for name in only or bugs:
        print(name)
        write_monitored(output, SETTING, record([bugs[name]]))
    return 0


def peers(*, telemetry: Telemetry = TELEMETRY, output: Output = places.PEERS) -> int:
    """Ask other tools about the runs of the reference setting, and keep what they say."""
    import polars as pl

    from failbench.base.slices import ReferenceStudy
    from failbench.base.telemetry import read_telemetry
    from failbench.neighbours.peers.recorder import record_peers

    study = read_section("nested_cv", ReferenceStudy)
    of_setting = [pl.col(n) == getattr(study, n) for n in ("architecture", "optimizer", "scale")]
    selected = read_telemetry(telemetry).select(pl.all_horizontal(of_setting))
    with interruptible("Stopped; what was asked is kept."), progress_meter() as meter:
        record_peers(output, selected, lambda done, total: meter.show("asking", done, total, 0))
    return 0
