"""What is measured as it grows: features, every method, and the statistics that cost most.

Each case is built in a process of its own: a builder takes the size, in multiples of what is
recorded, and returns what is to be measured, in the order in which it must be done. Language models
are not among the methods here, as what they cost is the time of a server.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Literal

import polars as pl

from failbench.base.methods import FEATURE_METHODS
from failbench.base.params import read_section
from failbench.base.records import Record
from failbench.base.scenarios import read_scenarios
from failbench.base.slices import AcrossArchitectures, ReferenceStudy
from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.base.telemetry_stream import ROWS, telemetry_batches
from failbench.diagnose.batch import diagnose_stream, fitted_method, read_features, write_diagnoses
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import feature_table, raw_table, to_frame
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context, Method
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
from failbench.methods.raw_telemetry import DECLARATIONS, RawTelemetrySettings
from failbench.prediction.nested_cv import LabelledRuns
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.confidence import area_interval
from failbench.statistics.intervals import IntervalSettings, method_intervals
from failbench.statistics.settings import read_statistics, read_with_statistics
from failbench.statistics.significance import SignificanceSettings, compare_all
from grown import grown_table, grown_telemetry, more_runs, more_scenarios, write_grown_telemetry
from measured_child import Works

REPOSITORY = Path(__file__).parents[2]
PARAMS = REPOSITORY / "params.yaml"
PREDICTIONS = REPOSITORY / "data" / "predictions" / "nested_cv"

SIZES = (1, 4, 16, 64)
"""Multiples of what is recorded."""

Axis = Literal["runs", "runs of the main study", "scenarios", "runs of a scenario"]


@dataclass(frozen=True)
class Case:
    """Something whose cost is measured at several sizes: its works, and what there is more of.

    ``limits`` are works that are not measured above a size, each with that size and the reason;
    ``exponents`` those that are claimed to grow less than with this power of the size, the others
    being claimed to grow less than with its square.
    """

    build: Callable[[int], Works]
    works: tuple[str, ...]
    axis: Axis
    limits: dict[str, tuple[int, str]] = field(default_factory=dict)
    exponents: dict[str, float] = field(default_factory=dict)

    def exponent(self, work: str) -> float:
        return self.exponents.get(work, 2.0)

    def measured(self, work: str, size: int) -> bool:
        return work not in self.limits or size <= self.limits[work][0]


METHOD_WORKS = ("fit", "predict", "diagnose")

LIMITS: dict[str, dict[str, tuple[int, str]]] = {
    "lightgbm": {
        "diagnose": (16, "SHAP values through all trees: minutes, and linear until there")
    },
    **{
        name: dict.fromkeys(METHOD_WORKS, (16, "rules and a forest, which are measured alone"))
        for name in ("hybrid", "hybrid_two_way")
    },
}
"""Largest sizes of what would take minutes without telling more, by case and work."""

NEARLY_LINEAR = 1.5
"""Halfway to the square: caches cost up to half more a row, and short times are uncertain."""

CUBE = 3.0
"""Rotated into as many columns as runs, the square of these times columns, with as many weights."""

RULES = frozenset({"simple_rules", "improved_rules"})


@cache
def recorded() -> Telemetry:
    return read_telemetry(REPOSITORY / "data" / "telemetry").select(pl.col("kind") == "failure")


@cache
def features() -> pl.DataFrame:
    return read_features(REPOSITORY / "data" / "features" / "features.parquet")


@cache
def predictions(method: str) -> pl.DataFrame:
    found = pl.read_parquet(PREDICTIONS / f"{method}.parquet")
    return found.filter(pl.col("feature_set") == "19")


def settings_of(method: str) -> Record:
    declaration = method_named(method)
    sections = declaration.sections.items()
    return declaration.assemble({name: read_section(name, one, PARAMS) for name, one in sections})


def extraction(size: int) -> Works:
    """All features of all runs at once, as the stage ``features`` does it."""
    telemetry = grown_telemetry(recorded(), size)
    scenarios = read_scenarios(REPOSITORY / "data" / "scenarios")
    return {"extract": partial(feature_table, telemetry, scenarios)}


def stream_of_runs(runs: int) -> Works:
    """Features and the answers of both sets of rules, from files to a file, batch by batch."""
    study = read_section("across_architectures", AcrossArchitectures, PARAMS)
    rules = {
        name: fitted_method(name, settings_of(name), features(), study)
        for name in ("simple_rules", "improved_rules")
    }
    place = tempfile.TemporaryDirectory(prefix="failbench-")
    folder = Path(place.name)
    write_grown_telemetry(recorded(), runs, folder)
    recorded.cache_clear()  # what is streamed is not held

    def diagnose() -> None:
        assert place is not None  # the folder lasts as long as what reads it
        found = diagnose_stream(telemetry_batches(folder, ROWS), rules)
        write_diagnoses((table for _, table in found), folder / "diagnoses.parquet")

    return {"diagnose": diagnose}


def stream(size: int) -> Works:
    return stream_of_runs(size * recorded().runs.height)


def method(name: str, size: int) -> Works:
    """A method fitted to all failing runs, its search included, and asked about the same runs."""
    failures = features().filter(pl.col("kind") == "failure")
    successes = features().filter(pl.col("kind") == "success")
    band = healthy_band(to_frame(successes), all_band_features())
    runs = LabelledRuns.from_table(grown_table(failures, size))
    declaration = method_named(name)
    key = dict(zip(runs.frame.index, runs.labels, strict=True)) if declaration.simulation else {}
    context = Context(FEATURE_SETS["19"], band, seed=0, true_categories=key)
    return works_of(declaration.build(settings_of(name), context), runs)


def works_of(estimator: Method, runs: LabelledRuns) -> Works:
    return {
        "fit": partial(estimator.fit, runs.frame, runs.labels, groups=runs.groups),
        "predict": partial(estimator.predict, runs.frame),
        "diagnose": partial(estimator.diagnose, runs.frame),
    }


def raw_method(name: str, size: int) -> Works:
    study = read_section("nested_cv", ReferenceStudy, PARAMS)
    run_ids = study.failures(features())["run_id"]
    failing = recorded().select(pl.col("run_id").is_in(run_ids.implode()))
    scenarios = read_scenarios(REPOSITORY / "data" / "scenarios")
    runs = LabelledRuns.from_table(more_scenarios(raw_table(failing, scenarios), size))
    settings = read_section("raw_telemetry", RawTelemetrySettings, PARAMS)
    context = Context((), HealthyBand({}, {}), seed=0)
    return works_of(DECLARATIONS[name].build(settings, context), runs)


def intervals(grow: Callable[[pl.DataFrame, int], pl.DataFrame], size: int) -> Works:
    settings = read_with_statistics("intervals", IntervalSettings, PARAMS)
    return {"resample": partial(method_intervals, grow(predictions("ebm"), size), settings)}


def risk_coverage(size: int) -> Works:
    """The area under one curve of risk and coverage, with its interval."""
    settings = read_statistics(BootstrapSettings, PARAMS)
    return {"resample": partial(area_interval, more_scenarios(predictions("ebm"), size), settings)}


def significance(size: int) -> Works:
    """The contrasts under every test."""
    settings = read_with_statistics("significance", SignificanceSettings, PARAMS)
    named = sorted({one for contrast in settings.contrasts for one in contrast})
    table = more_scenarios(pl.concat(predictions(one) for one in named), size)
    return {"compare": partial(compare_all, table, settings)}


def case_of_method(name: str) -> Case:
    linear = dict.fromkeys(("predict", "diagnose"), NEARLY_LINEAR) if name in RULES else {}
    return Case(partial(method, name), METHOD_WORKS, "runs", LIMITS.get(name, {}), linear)


CASES: dict[str, Case] = {
    "features": Case(extraction, ("extract",), "runs", exponents={"extract": NEARLY_LINEAR}),
    "stream": Case(stream, ("diagnose",), "runs", exponents={"diagnose": NEARLY_LINEAR}),
    **{name: case_of_method(name) for name in FEATURE_METHODS},
    **{
        name: Case(
            partial(raw_method, name),
            METHOD_WORKS,
            "runs of the main study",
            exponents={"fit": CUBE},
        )
        for name in DECLARATIONS
    },
    "intervals": Case(partial(intervals, more_scenarios), ("resample",), "scenarios"),
    "intervals_of_runs": Case(partial(intervals, more_runs), ("resample",), "runs of a scenario"),
    "risk_coverage": Case(risk_coverage, ("resample",), "scenarios"),
    "significance": Case(significance, ("compare",), "scenarios"),
}
