"""Batch: methods that can diagnose a folder of telemetry, fitted, and the file of diagnoses."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import pandas as pd
import polars as pl
import pyarrow.parquet as pq

from failbench.base.errors import BadInputError
from failbench.base.files import replaced_when_whole
from failbench.base.known_columns import flags_in
from failbench.base.methods import CATALOGUE, ENTRIES, FEATURE_METHODS, MONITOR_METHODS
from failbench.base.params import read_section
from failbench.base.records import Record
from failbench.base.slices import AcrossArchitectures
from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.base.verdicts import Diagnosis
from failbench.features import feature_table
from failbench.features.catalogue import FEATURE_SETS, FEATURES
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context, Method, MethodDeclaration
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
from failbench.monitor.records.tables import RUNS
from failbench.monitor.records.verdicts import with_known
from failbench.prediction.nested_cv import LabelledRuns

# methods that read step series and error text, and no feature
RAW_METHODS: Final = tuple(
    entry.name for entry in CATALOGUE if entry.module and entry.family == "raw telemetry"
)
RAW_SECTION: Final = "raw_telemetry"  # section of params.yaml with the settings of all of them

# names of all methods that can diagnose, by what they read
READ_BY: Final = {
    "features": tuple(name for name in FEATURE_METHODS if not ENTRIES[name].reads_true_category),
    "a monitor's recording": MONITOR_METHODS,
    "raw telemetry": RAW_METHODS,
}


def refuse_unknown(name: str) -> None:
    """Refuse a name that is no method, or one that simulates people."""
    if any(name in names for names in READ_BY.values()):
        return
    problem = "is unknown."
    if name in ENTRIES and ENTRIES[name].reads_true_category:
        problem = "needs the true causes, which are unknown here."
    *others, last = [f"{read} ({', '.join(names)})" for read, names in READ_BY.items()]
    remedy = f"Choose one that reads {', '.join(others)} or {last}."
    raise BadInputError("command line", "--method", f"{name!r} {problem}", remedy)


def declaration_named(name: str) -> MethodDeclaration:
    """The declaration of a method that can diagnose."""
    refuse_unknown(name)
    if name not in RAW_METHODS:
        return method_named(name)
    module = import_module(f"failbench.methods.{ENTRIES[name].module}")
    declarations: dict[str, MethodDeclaration] = module.DECLARATIONS
    return declarations[name]


def settings_of(name: str, params: Path) -> Record:
    """The settings of a method, from the file that studies read."""
    declaration = declaration_named(name)
    if name in RAW_METHODS:
        return read_section(RAW_SECTION, declaration.settings, params)
    sections = declaration.sections.items()
    return declaration.assemble(
        {section: read_section(section, record, params) for section, record in sections}
    )


def read_features(path: Path) -> pl.DataFrame:
    """Read the feature table that the stage ``features`` writes."""
    remedy = "Run `dvc repro features`, or restore it with `git checkout`."
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        problem = "is missing or is not a parquet file."
        raise BadInputError(path, "(file)", problem, remedy) from error
    named = [feature.name for feature in FEATURES]
    for name in (*feature_table.KEYS, *feature_table.ERROR_TEXT_COLUMNS, *named):
        if name not in table.columns:
            raise BadInputError(path, name, "the column is missing.", remedy)
    return table


def fitted_method(
    name: str,
    settings: Record,
    features: pl.DataFrame,
    study: AcrossArchitectures,
    known: pl.DataFrame | None = None,
) -> Method:
    """A method on features, fitted to every failing run of the study of all architectures."""
    failures = training_failures(features, study)
    if name in MONITOR_METHODS and known is not None:
        failures = with_known(failures, known)
        _refuse_none(failures, study)
    successes = study.slice(features).filter(kind="success")
    band = healthy_band(feature_table.to_frame(successes), all_band_features())
    names, flags = FEATURE_SETS[study.feature_sets[0]], flags_in(failures.columns)
    context = Context(names, band, study.seed, known=flags)
    return _fitted(name, settings, context, failures)


def fitted_raw_method(
    name: str, settings: Record, runs: pl.DataFrame, study: AcrossArchitectures
) -> Method:
    """A method on step series and error text, fitted as the study ``raw_telemetry`` does."""
    # No method of raw telemetry takes a threshold from healthy runs.
    names = (*feature_table.RAW_TEXT, *feature_table.RAW_SERIES)
    return _fitted(name, settings, Context(names, HealthyBand({}, {}), study.seed), runs)


def _fitted(name: str, settings: Record, context: Context, failures: pl.DataFrame) -> Method:
    runs = LabelledRuns.from_table(failures)
    method = declaration_named(name).build(settings, context)
    return method.fit(runs.frame, runs.labels, groups=runs.groups)


def raw_training_runs(
    folder: Path, features: pl.DataFrame, study: AcrossArchitectures
) -> pl.DataFrame:
    """The raw table of the failing runs that methods on features learn from."""
    failures = training_failures(features, study).select("run_id", "category")
    chosen = pl.col("run_id").is_in(failures["run_id"].to_list())
    raw = feature_table.raw_table(read_telemetry(folder).select(chosen), scenarios=())
    lacking = failures.join(raw, on="run_id", how="anti").sort("run_id")
    if lacking.height:
        problem = (
            f"{lacking['run_id'][0]!r} of the feature table is not there, and methods of raw "
            "telemetry learn from its steps."
        )
        remedy = "Choose methods of features, or name features of these runs."
        raise BadInputError(folder / "runs.parquet", "run_id", problem, remedy)
    return raw.drop("category").join(failures, on="run_id").sort("run_id")


def training_failures(features: pl.DataFrame, study: AcrossArchitectures) -> pl.DataFrame:
    """The failing runs of the study, with their features."""
    failures = study.slice(features).filter(pl.col("kind") == "failure")
    _refuse_none(failures, study)
    return failures


def _refuse_none(failures: pl.DataFrame, study: AcrossArchitectures) -> None:
    if not failures.height:
        runs = f"no failing run of {study.optimizer} at scale {study.scale}"
        remedy = "Record one, or change the section across_architectures of params.yaml."
        raise BadInputError("features", "optimizer", f"{runs} is there to train on.", remedy)


_EVIDENCE = ("signal", "value", "relation", "threshold")

# Columns of a file of diagnoses; the first two are its key. See
# :class:`failbench.base.verdicts.Diagnosis` for their meaning. Values and thresholds are text,
# because some are numbers and some are words.
DIAGNOSIS_SCHEMA = pl.Schema(
    {
        "run_id": pl.String(),
        "method": pl.String(),
        "diagnosis": pl.String(),
        "confidence": pl.Float64(),
        "reason": pl.String(),
        "conditions": pl.Int32(),
        "evidence": pl.List(pl.Struct([pl.Field(name, pl.String()) for name in _EVIDENCE])),
    }
)

# runs that a method of raw telemetry is asked about at a time: each has ten thousand columns, and
# a batch may hold a hundred thousand runs that ended before their first step
RAW_RUNS_AT_ONCE: Final = 256
# writes tables of ``DIAGNOSIS_SCHEMA`` into one file
Writer = Callable[[Iterable[pl.DataFrame], Path], None]


def diagnoses_of(
    telemetry: Telemetry,
    methods: Mapping[str, Method],
    known: pl.DataFrame | None = None,
    folder: Path = Path(),
) -> pl.DataFrame:
    """The diagnosis of each failing run by each method at its failure; other runs are ignored."""
    failed = telemetry.select(pl.col("kind") == "failure")
    frames: dict[bool, list[pd.DataFrame]] = {}
    for of_raw in {name in RAW_METHODS for name in methods} if failed.runs.height else ():
        if of_raw:
            parts = [*feature_table.raw_table(failed, scenarios=()).iter_slices(RAW_RUNS_AT_ONCE)]
        else:
            parts = [_features(failed, known, folder)]
        frames[of_raw] = [feature_table.to_frame(part) for part in parts]
    answers = {
        name: [each for frame in frames.get(name in RAW_METHODS, ()) for each in of.diagnose(frame)]
        for name, of in methods.items()
    }
    runs = enumerate(failed.runs["run_id"].sort())
    rows = [(run_id, name, *_row(answers[name][at])) for at, run_id in runs for name in methods]
    return pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")


def _features(failed: Telemetry, known: pl.DataFrame | None, folder: Path) -> pl.DataFrame:
    features = feature_table.feature_table(failed, scenarios=())
    if known is None:
        return features
    unknown = features.join(known, on="run_id", how="anti")
    if unknown.height:
        problem = f"{unknown['run_id'][0]!r} was recorded without a monitor."
        remedy = "Record it again with one, or choose methods that read telemetry alone."
        raise BadInputError(folder / "monitor" / RUNS, "run_id", problem, remedy)
    return with_known(features, known)


def _row(said: Diagnosis) -> tuple[object, ...]:
    evidence = [{name: str(getattr(each, name)) for name in _EVIDENCE} for each in said.evidence]
    return said.category, said.confidence, said.reason, said.conditions, evidence


def diagnose_stream(
    batches: Iterable[Telemetry],
    methods: Mapping[str, Method],
    known: pl.DataFrame | None = None,
    folder: Path = Path(),
) -> Iterator[tuple[int, pl.DataFrame]]:
    """The number of runs of each batch and its diagnoses, which depend on no other run of it."""
    for telemetry in batches:
        yield telemetry.runs.height, diagnoses_of(telemetry, methods, known, folder)


def write_diagnoses(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of ``DIAGNOSIS_SCHEMA`` into one file as they are made."""
    write = writer_of(path)
    remedy = "Free space or choose another folder; an existing file is unchanged."
    with replaced_when_whole(path, remedy) as partial:
        write(tables, partial)


def writer_of(path: Path) -> Writer:
    """What writes a file of diagnoses."""
    *others, last = WRITERS
    if not path.is_dir() and (write := WRITERS.get(path.suffix.lower())) is not None:
        return write
    problem = f"the suffix {path.suffix!r} is of no supported format."
    if path.is_dir():
        problem = "is a folder."
    elif not path.suffix:
        problem = "has no suffix that says its format."
    remedy = f"Name a file that ends in {', '.join(others)} or {last}."
    raise BadInputError(path, "--output", problem, remedy)


def _write_parquet(tables: Iterable[pl.DataFrame], path: Path) -> None:
    schema = DIAGNOSIS_SCHEMA.to_frame().to_arrow().schema
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.to_arrow())


def _write_csv(tables: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        file.write(",".join(DIAGNOSIS_SCHEMA).encode() + b"\n")
        for table in tables:
            cells = [json.dumps(evidence) for evidence in table["evidence"].to_list()]
            names = table["run_id"]  # letters that draw nothing are escaped
            run_ids = [one if one.isprintable() else json.dumps(one)[1:-1] for one in names]
            text = {"run_id": run_ids, "evidence": cells}
            columns = [pl.Series(name, values, pl.String) for name, values in text.items()]
            table.with_columns(columns).write_csv(file, include_header=False)


def _write_json(tables: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("w", encoding="ascii") as file:
        before = "[\n"
        for row in _objects(tables):
            file.write(before + row)
            before = ",\n"
        file.write("[]\n" if before == "[\n" else "\n]\n")


def _write_json_lines(tables: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("w", encoding="ascii") as file:
        file.writelines(f"{row}\n" for row in _objects(tables))


def _objects(tables: Iterable[pl.DataFrame]) -> Iterator[str]:
    for table in tables:
        for row in table.iter_rows(named=True):
            yield json.dumps(row, allow_nan=False)


# writers by the suffix of their files
WRITERS: Final[dict[str, Writer]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
}
