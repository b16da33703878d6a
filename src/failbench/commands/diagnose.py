"""The command ``diagnose``: methods fitted to the benchmark, applied to a folder of telemetry."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
from rich.progress import Progress, TaskID

from failbench.commands.terminal import INTERRUPTED, progress_bar
from failbench.params import PARAMS, read_section


def diagnose_telemetry(
    *, telemetry: Path, method: Sequence[str], output: Path, features: Path
) -> int:
    """Write one row per failing run and method, and print the counts of each method's answers.

    Parameters
    ----------
    telemetry
        Folder of any runs.
    method
        Names in ``methods.catalogue.CATALOGUE``.
    output
        File of diagnoses to write; an interruption leaves an existing file unchanged.
    features
        Feature table of the training runs.

    Returns
    -------
    int
        Exit status.

    Raises
    ------
    BadInputError
        If the telemetry or the features cannot be read, a method is unknown or cannot diagnose, a
        section of params.yaml is wrong, or the output cannot be written.
    """
    from failbench.diagnoses import diagnose_stream, fitted_method, read_features, write_diagnoses
    from failbench.methods.catalogue import method_named
    from failbench.prediction.slices import AcrossArchitectures
    from failbench.telemetry_stream import ROWS, number_of_runs, telemetry_batches

    total = number_of_runs(telemetry)
    study = read_section("across_architectures", AcrossArchitectures, PARAMS)
    feature_table = read_features(features)
    methods = {}
    for name in method:
        declaration = method_named(name)
        sections = {
            section: read_section(section, record, PARAMS)
            for section, record in declaration.sections.items()
        }
        settings = declaration.assemble(sections)
        methods[name] = fitted_method(name, settings, feature_table, study)
    counts: Counter[tuple[str, str]] = Counter()

    def counted(bar: Progress, task: TaskID) -> Iterator[pl.DataFrame]:
        for runs, table in diagnose_stream(telemetry_batches(telemetry, ROWS), methods):
            counts.update(zip(table["method"], table["diagnosis"], strict=True))
            bar.advance(task, runs)
            yield table

    try:
        with progress_bar(time_left=True) as bar:
            task = bar.add_task("diagnosing", total=total)
            write_diagnoses(counted(bar, task), output)
    except KeyboardInterrupt:
        print(f"Stopped; nothing was written to {output}.", file=sys.stderr)
        return INTERRUPTED
    for (name, answer), count in sorted(counts.items()):
        print(f"{name}: {answer} {count}")
    return 0
