"""Methods that can diagnose a folder of telemetry: their settings, and how they are fitted."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.known_columns import flags_in
from failbench.base.methods import CATALOGUE, ENTRIES, FEATURE_METHODS, MONITOR_METHODS
from failbench.base.params import read_section
from failbench.base.records import Record
from failbench.base.slices import AcrossArchitectures
from failbench.base.telemetry import read_telemetry
from failbench.features import feature_table as tables
from failbench.features.catalogue import FEATURE_SETS, FEATURES
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context, Method, MethodDeclaration
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
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
    for name in (*tables.KEYS, *tables.ERROR_TEXT_COLUMNS, *(feature.name for feature in FEATURES)):
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
    band = healthy_band(tables.to_frame(successes), all_band_features())
    names, flags = FEATURE_SETS[study.feature_sets[0]], flags_in(failures.columns)
    context = Context(names, band, study.seed, known=flags)
    return _fitted(name, settings, context, failures)


def fitted_raw_method(
    name: str, settings: Record, runs: pl.DataFrame, study: AcrossArchitectures
) -> Method:
    """A method on step series and error text, fitted as the study ``raw_telemetry`` does."""
    # No method of raw telemetry takes a threshold from healthy runs.
    context = Context((*tables.RAW_TEXT, *tables.RAW_SERIES), HealthyBand({}, {}), study.seed)
    return _fitted(name, settings, context, runs)


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
    raw = tables.raw_table(read_telemetry(folder).select(chosen), scenarios=())
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
