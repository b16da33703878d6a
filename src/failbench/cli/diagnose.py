"""The command ``diagnose``: methods fitted to the benchmark, applied to a folder of telemetry."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from failbench.base.params import read_section
from failbench.cli.monitored import known_of_folder, known_of_reference, reads_monitor
from failbench.cli.paths import TELEMETRY
from failbench.cli.reference import Reference, reference_at
from failbench.cli.terminal import INTERRUPTED, Meter, progress_meter

if TYPE_CHECKING:
    from failbench.base.slices import AcrossArchitectures
    from failbench.methods.declaration import Method


def diagnose_telemetry(
    *,
    telemetry: Path,
    method: Sequence[str],
    output: Path,
    features: Path | None,
    reference: Path | None,
) -> int:
    """Write one row per failing run and method, and print the counts of each method's answers."""
    from failbench.base.telemetry_stream import (
        ROWS,
        number_of_runs,
        refuse_foreign,
        telemetry_batches,
    )
    from failbench.diagnose.batch.catalogue import refuse_unknown
    from failbench.diagnose.batch.diagnoses import diagnose_stream
    from failbench.diagnose.batch.formats import write_diagnoses, writer_of
    from failbench.diagnose.batch.training import read_features

    # What is wrong with the command or the folder is said before anything is fitted.
    writer_of(output)
    for name in method:
        refuse_unknown(name)
    total = number_of_runs(telemetry)
    refuse_foreign(telemetry)
    checkout = reference_at(reference)
    counts: Counter[tuple[str, str]] = Counter()

    def counted(tables: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        for table in tables:
            counts.update(zip(table["method"], table["diagnosis"], strict=True))
            yield table

    try:
        known = known_of_folder(telemetry, checkout) if reads_monitor(method) else None
        methods = fitted_methods(method, checkout, read_features(features or checkout.features))
        batches = telemetry_batches(telemetry, ROWS)
        diagnosed = diagnose_stream(batches, methods, known, telemetry)
        with progress_meter() as meter:
            write_diagnoses(counted(shown(diagnosed, total, meter)), output)
    except KeyboardInterrupt:
        print(f"Stopped; nothing was written to {output}.", file=sys.stderr)
        return INTERRUPTED
    for (name, answer), count in sorted(counts.items()):
        print(f"{name}: {answer} {count}")
    return 0


def study_of(reference: Reference) -> AcrossArchitectures:
    """The study whose runs methods learn from."""
    from failbench.base.slices import AcrossArchitectures

    return read_section("across_architectures", AcrossArchitectures, reference.params)


def fitted_methods(
    names: Iterable[str], reference: Reference, features: pl.DataFrame
) -> dict[str, Method]:
    """Methods fitted to the benchmark, with the settings of a reference, by name.

    All learn from the same runs. Those of raw telemetry read them in the telemetry of the
    reference, and standard error says that they are being fitted, which takes minutes.
    """
    from failbench.diagnose.batch.catalogue import RAW_METHODS, settings_of
    from failbench.diagnose.batch.training import (
        fitted_method,
        fitted_raw_method,
        raw_training_runs,
    )

    names = tuple(dict.fromkeys(names))
    settings = {name: settings_of(name, reference.params) for name in names}
    study = study_of(reference)
    known = known_of_reference(reference) if reads_monitor(names) else None
    raw = None
    if not set(names).isdisjoint(RAW_METHODS):
        raw = raw_training_runs(reference.root / TELEMETRY, features, study)
    methods = {}
    for name in names:
        if raw is not None and name in RAW_METHODS:
            print(f"fitting {name} to {raw.height} runs, which takes minutes", file=sys.stderr)
            methods[name] = fitted_raw_method(name, settings[name], raw, study)
        else:
            methods[name] = fitted_method(name, settings[name], features, study, known)
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
