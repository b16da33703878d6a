"""The command ``diagnose``: methods fitted to the benchmark, applied to a folder of telemetry."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from failbench.commands.monitored import known_of_folder, known_of_reference, reads_monitor
from failbench.commands.reference import Reference, reference_at
from failbench.commands.terminal import INTERRUPTED, Meter, progress_meter
from failbench.params import read_section

if TYPE_CHECKING:
    from failbench.methods.method import Method
    from failbench.prediction.slices import AcrossArchitectures


def diagnose_telemetry(
    *,
    telemetry: Path,
    method: Sequence[str],
    output: Path,
    features: Path | None,
    reference: Path | None,
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
        Feature table of the training runs; None takes that of the reference.
    reference
        Checkout that has the settings of the methods and what they learn from; None takes the
        working directory, or the checkout that is installed.

    Returns
    -------
    int
        Exit status.

    Raises
    ------
    BadInputError
        If the telemetry or the features cannot be read, there is no reference, a method is unknown
        or cannot diagnose, a section of params.yaml is wrong, or the output cannot be written.
    """
    from failbench.diagnoses import diagnose_stream, read_features, write_diagnoses
    from failbench.telemetry_stream import ROWS, number_of_runs, telemetry_batches

    total = number_of_runs(telemetry)
    checkout = reference_at(reference)
    known = known_of_folder(telemetry, checkout) if reads_monitor(method) else None
    methods = fitted_methods(method, checkout, read_features(features or checkout.features))
    counts: Counter[tuple[str, str]] = Counter()

    def counted(meter: Meter) -> Iterator[pl.DataFrame]:
        diagnosed = diagnose_stream(telemetry_batches(telemetry, ROWS), methods, known)
        for table in shown(diagnosed, total, meter):
            counts.update(zip(table["method"], table["diagnosis"], strict=True))
            yield table

    try:
        with progress_meter() as meter:
            write_diagnoses(counted(meter), output)
    except KeyboardInterrupt:
        print(f"Stopped; nothing was written to {output}.", file=sys.stderr)
        return INTERRUPTED
    for (name, answer), count in sorted(counts.items()):
        print(f"{name}: {answer} {count}")
    return 0


def study_of(reference: Reference) -> AcrossArchitectures:
    """The study whose runs methods learn from."""
    from failbench.prediction.slices import AcrossArchitectures

    return read_section("across_architectures", AcrossArchitectures, reference.params)


def fitted_methods(
    names: Iterable[str], reference: Reference, features: pl.DataFrame
) -> dict[str, Method]:
    """Methods fitted to the benchmark, with the settings of a reference, by name.

    Raises
    ------
    BadInputError
        If a method is unknown or cannot diagnose, a section of its params.yaml is wrong, or a
        method reads what the monitor knows and the reference lacks that.
    """
    from failbench.diagnoses import fitted_method
    from failbench.methods.catalogue import method_named

    names = tuple(names)
    study = study_of(reference)
    known = known_of_reference(reference) if reads_monitor(names) else None
    methods = {}
    for name in names:
        declaration = method_named(name)
        sections = {
            section: read_section(section, record, reference.params)
            for section, record in declaration.sections.items()
        }
        methods[name] = fitted_method(name, declaration.assemble(sections), features, study, known)
    return methods


def shown(
    batches: Iterable[tuple[int, pl.DataFrame]], total: int, meter: Meter
) -> Iterator[pl.DataFrame]:
    """The tables of batches, each with its number of runs, while progress is shown."""
    started, done = time.monotonic(), 0
    for runs, table in batches:
        done += runs
        seconds = (time.monotonic() - started) / max(done, 1) * (total - done)
        meter.show("diagnosing", done, total, seconds if done < total else None)
        yield table
