"""The commands ``score`` and ``diagnose --output``: fitted methods on a folder of telemetry."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.methods import MONITOR_METHODS
from failbench.base.params import read_section
from failbench.base.scenarios import read_scenarios
from failbench.cli.places import (
    BROKEN,
    MONITORED,
    TELEMETRY,
    Checkout,
    Json,
    Reference,
    reference_at,
)
from failbench.cli.terminal import Meter, interruptible, progress_meter

if TYPE_CHECKING:
    import polars as pl

    from failbench.base.slices import AcrossArchitectures
    from failbench.methods.declaration import Method
    from failbench.monitor.records.versions import Rules


def diagnose_telemetry(
    telemetry: Path,
    method: Sequence[str],
    output: Path,
    *,
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
    from failbench.diagnose.batch import (
        diagnose_stream,
        read_features,
        refuse_unknown,
        write_diagnoses,
        writer_of,
    )

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

    with interruptible(f"Stopped; nothing was written to {output}."):
        known = known_of_folder(telemetry, checkout) if _reads_monitor(method) else None
        methods = fitted_methods(method, checkout, read_features(features or checkout.features))
        batches = telemetry_batches(telemetry, ROWS)
        diagnosed = diagnose_stream(batches, methods, known, telemetry)
        with progress_meter() as meter:
            write_diagnoses(counted(_shown(diagnosed, total, meter)), output)
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
    """Methods fitted to the same runs of the benchmark, by name; raw telemetry takes minutes."""
    from failbench.diagnose import batch

    names = tuple(dict.fromkeys(names))
    settings = {name: batch.settings_of(name, reference.params) for name in names}
    study = study_of(reference)
    known = _known_of_reference(reference) if _reads_monitor(names) else None
    raw = None
    if not set(names).isdisjoint(batch.RAW_METHODS):
        raw = batch.raw_training_runs(reference.root / TELEMETRY, features, study)
    methods = {}
    for name in names:
        if raw is not None and name in batch.RAW_METHODS:
            print(f"fitting {name} to {raw.height} runs, which takes minutes", file=sys.stderr)
            methods[name] = batch.fitted_raw_method(name, settings[name], raw, study)
        else:
            methods[name] = batch.fitted_method(name, settings[name], features, study, known)
    return methods


def _shown(
    batches: Iterable[tuple[int, pl.DataFrame]], total: int, meter: Meter
) -> Iterator[pl.DataFrame]:
    """The tables of batches, each with its number of runs, while progress is shown."""
    done = 0
    for runs, table in batches:
        done += runs
        meter.show("diagnosing", done, total, kept=0)
        yield table


def _reads_monitor(methods: Iterable[str]) -> bool:
    return not set(methods).isdisjoint(MONITOR_METHODS)


def _known_of_reference(reference: Reference) -> pl.DataFrame:
    import polars as pl

    from failbench.base.telemetry import read_table
    from failbench.monitor.records.scoring import versioned
    from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, known_table

    rules = _last_rules(reference)
    folder = reference.root / BROKEN
    breaks = read_table(folder / "breaks.parquet", versioned(BREAK_SCHEMA))
    of_version = breaks.filter(pl.col("version") == rules.version).drop("version")
    return known_table(of_version, read_table(folder / "ends.parquet", END_SCHEMA), rules)


def known_of_folder(telemetry: Path, reference: Reference) -> pl.DataFrame:
    """What the last frozen version of the rules knows of runs that were recorded with a monitor."""
    from failbench.base.telemetry import RUN_SCHEMA, read_table
    from failbench.base.telemetry_stream import remedied_anywhere
    from failbench.monitor.records.tables import RUNS, SIGNALS, read_monitored
    from failbench.monitor.records.verdicts import break_table, ends_of, known_table

    folder = telemetry / MONITORED.name
    if not (folder / RUNS).exists():
        problem = "is not there: the runs were recorded without a monitor."
        remedy = "Record them with it, or choose methods that read telemetry alone."
        raise BadInputError(folder / RUNS, "(file)", problem, remedy)
    if not any((folder / SIGNALS).glob("*.parquet")):
        problem = "has no file: what the monitor measured is not there."
        remedy = "Copy it from where the runs were recorded, or record them again."
        raise BadInputError(folder / SIGNALS, "(folder)", problem, remedy)
    rules = _last_rules(reference)
    with remedied_anywhere():
        monitored = read_monitored(folder)
        runs = read_table(telemetry / RUNS, RUN_SCHEMA)
    return known_table(break_table(monitored, rules), ends_of(monitored.runs, runs), rules)


def _last_rules(reference: Reference) -> Rules:
    from failbench.monitor.records.versions import FROZEN, read_frozen, read_rules

    folder = reference.root / MONITORED
    versions = list(read_frozen(folder))
    if not versions:
        remedy = "Freeze one with `failbench freeze`."
        raise BadInputError(folder / FROZEN, "(file)", "has no version.", remedy)
    return read_rules(folder, versions[-1])


def score(
    telemetry: Path,
    /,
    *,
    method: Annotated[Sequence[str], Parameter(help="by name; may be repeated")],
    scenarios: Annotated[Path | None, Parameter(help="labels (default: the reference's)")] = None,
    reference: Checkout = None,
    json: Json = False,
) -> int:
    """Score methods on recorded runs of causes that they have not learnt from."""
    import polars as pl

    from failbench.base.telemetry import RUN_SCHEMA, read_table
    from failbench.base.telemetry_stream import ROWS, remedied_anywhere, telemetry_batches
    from failbench.diagnose.batch import diagnoses_of, read_features
    from failbench.statistics.intervals import ScenarioIntervalSettings
    from failbench.statistics.settings import read_statistics
    from failbench.study.cells import counted
    from failbench.study.scoring import Score, labelled_runs, method_scores, runs_by_scenario

    place = telemetry / "runs.parquet"
    with remedied_anywhere():
        recorded = read_table(place, RUN_SCHEMA)
    checkout = reference_at(reference)
    labels = scenarios or checkout.scenarios
    features = read_features(checkout.features)
    learnt_from = study_of(checkout).slice(features).filter(pl.col("kind") == "failure")
    trained_on = frozenset(learnt_from["scenario"])
    runs = labelled_runs(recorded, read_scenarios(labels), trained_on, place, labels)
    known = known_of_folder(telemetry, checkout) if _reads_monitor(method) else None
    methods = fitted_methods(method, checkout, features)
    settings = read_statistics(ScenarioIntervalSettings, checkout.params)
    chosen = pl.col("run_id").is_in(runs["run_id"].to_list())
    batches = (
        (batch.runs.height, diagnoses_of(batch.select(chosen), methods, known, telemetry))
        for batch in telemetry_batches(telemetry, ROWS)
    )
    with interruptible("Stopped; nothing was scored."), progress_meter() as meter:
        diagnoses = pl.concat(_shown(batches, recorded.height, meter))
    failing = recorded.filter(pl.col("kind") == "failure")
    scored = Score(
        runs=runs.height,
        scenarios=runs_by_scenario(runs),
        excluded=runs_by_scenario(failing.join(runs, on="run_id", how="anti")),
        confidence=settings.confidence,
        methods=method_scores(runs, diagnoses, settings),
    )
    if json:
        print(scored.model_dump_json(indent=2))
        return 0
    print(f"{counted(scored.runs, 'failing run')} of {counted(len(scored.scenarios), 'scenario')}")
    if scored.excluded:
        number, names = counted(sum(scored.excluded.values()), "run"), ", ".join(scored.excluded)
        print(f"left out: {number} of scenarios that the methods have learnt from ({names})")
    for name, result in scored.methods.items():
        accuracy = result.accuracy
        answers = ", ".join(f"{answer} {count}" for answer, count in result.answers.items())
        print(
            f"{name}: accuracy {accuracy.value:.1%} "
            f"[{accuracy.ci_low:.1%}, {accuracy.ci_high:.1%}] "
            f"({scored.confidence:.0%}, {accuracy.method}, n = {accuracy.n}), "
            f"right about {result.right} of {counted(scored.runs, 'run')}; answered {answers}"
        )
    return 0
