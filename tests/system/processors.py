"""Processors that a test can pretend to have: kernels, instructions and threads of a process.

What adds in another order rounds otherwise. OpenBLAS takes kernels by ``OPENBLAS_CORETYPE``, NumPy
leaves out loops by ``NPY_DISABLE_CPU_FEATURES``, Numba compiles for ``NUMBA_CPU_NAME``, and the C
library leaves out instructions in ``exp`` and ``log`` by ``GLIBC_TUNABLES``.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

REPOSITORY = Path(__file__).parents[2]
KEY = ("study", "feature_set", "method", "repeat", "fold", "run_id")
LAST_DIGIT = 1.5e-6
"""Stored numbers have six decimals; what differs by less differs by one in the last of them."""


class CannotExecuteError(Exception):
    """The processor of this machine has no such instructions; says which were asked for."""


@dataclass(frozen=True)
class Processor:
    """What a process is told to be run by, in variables that libraries read at their import."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    kernels: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    threads: int = 1


def openblas(kernel: str, *aliases: str) -> Processor:
    return Processor(kernel, {"OPENBLAS_CORETYPE": kernel}, (kernel, *aliases))


def numpy_without(*features: str) -> Processor:
    name = f"NumPy without {', '.join(features)}"
    return Processor(name, {"NPY_DISABLE_CPU_FEATURES": " ".join(features)}, without=features)


NATIVE = Processor("native")
OLDEST = Processor(
    "Prescott with two threads, NumPy without AVX",
    {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "AVX512_SKX AVX512F AVX2 FMA3"},
    ("Prescott", "Katmai"),
    ("AVX512_SKX", "AVX512F", "AVX2", "FMA3"),
    threads=2,
)
"""As far as one process can be from a modern processor with one thread."""

PROCESSORS = (
    openblas("SkylakeX"),
    openblas("Haswell"),
    # Builds that leave these out take their nearest kin, which the report then names.
    openblas("Zen", "Haswell"),
    openblas("Katmai", "Prescott"),
    openblas("Prescott", "Katmai"),
    numpy_without("AVX512_SKX"),
    numpy_without("AVX512_SKX", "AVX512F", "AVX2", "FMA3"),
    Processor("Numba for any processor", {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}),
    Processor("C library without FMA", {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"}),
    Processor("two threads", threads=2),
    OLDEST,
)


def refitted(processor: Processor, folder: Path) -> pl.DataFrame:
    rows = folder / "rows.parquet"
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(processor.threads))
    paths = os.pathsep.join(str(REPOSITORY / name) for name in ("src", "experiments"))
    environment = {**os.environ, "PYTHONPATH": paths, **threads, **processor.environment}
    if "NUMBA_CPU_NAME" in processor.environment:
        environment["NUMBA_CACHE_DIR"] = str(folder)  # what it compiles is of no use to others
    program = [sys.executable, str(Path(__file__).with_name("refit.py")), str(rows)]
    done = subprocess.run(
        program, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode == -signal.SIGILL:
        raise CannotExecuteError(f"{processor.name}: this processor cannot execute it: not run.")
    if done.returncode:
        raise RuntimeError(f"{processor.name}: {done.stderr}")
    report = json.loads(done.stdout.splitlines()[-1])
    why = ""
    if processor.kernels is not None and not set(report["kernels"]) <= set(processor.kernels):
        why = f"OpenBLAS took {report['kernels']} in its place"
    elif report["threads"] != [processor.threads]:
        why = f"BLAS had {report['threads']} threads, not {processor.threads}"
    elif still := set(report["numpy"]) & set(processor.without):
        why = f"NumPy still had {sorted(still)}"
    if why:
        raise CannotExecuteError(f"{processor.name}: {why}: not run.")
    return pl.read_parquet(rows)


def differences(rows: pl.DataFrame, expected: pl.DataFrame) -> dict[str, int]:
    """How many rows differ, numbers by more than one in their last decimal; empty if none does."""
    numbers = [name for name, dtype in expected.schema.items() if dtype == pl.Float64]
    words = [name for name in expected.columns if name not in numbers]
    rows, expected = rows.sort(KEY), expected.sort(KEY)
    if rows.height != expected.height:
        return {"rows": abs(rows.height - expected.height)}
    apart = (rows.select(numbers) - expected.select(numbers)).select(
        pl.max_horizontal(pl.all().abs()) > LAST_DIGIT
    )
    counts = {name: (~rows[name].eq_missing(expected[name])).sum() for name in words} | {
        "numbers": apart.to_series().sum()
    }
    return {name: count for name, count in counts.items() if count}
