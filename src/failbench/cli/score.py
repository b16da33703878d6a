"""The command ``score``: accuracies of methods on recorded runs of causes that they do not know."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from failbench.cli.diagnose import fitted_methods, shown, study_of
from failbench.cli.monitored import known_of_folder, reads_monitor
from failbench.cli.reference import reference_at
from failbench.cli.terminal import INTERRUPTED, progress_meter

if TYPE_CHECKING:
    from failbench.study.scoring import Score


def score_methods(
    *,
    telemetry: Path,
    method: Sequence[str],
    scenarios: Path | None,
    reference: Path | None,
    json: bool,
) -> int:
    """Print the accuracy of methods that were fitted to the benchmark, with intervals."""
    from failbench.base.scenarios import read_scenarios
    from failbench.base.telemetry import RUN_SCHEMA, read_table
    from failbench.base.telemetry_stream import ROWS, remedied_anywhere, telemetry_batches
    from failbench.diagnose.batch.diagnoses import diagnoses_of
    from failbench.diagnose.batch.training import read_features
    from failbench.statistics.intervals import ScenarioIntervalSettings
    from failbench.statistics.settings import read_statistics
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
    known = known_of_folder(telemetry, checkout) if reads_monitor(method) else None
    methods = fitted_methods(method, checkout, features)
    settings = read_statistics(ScenarioIntervalSettings, checkout.params)
    chosen = pl.col("run_id").is_in(runs["run_id"].to_list())
    batches = (
        (batch.runs.height, diagnoses_of(batch.select(chosen), methods, known, telemetry))
        for batch in telemetry_batches(telemetry, ROWS)
    )
    try:
        with progress_meter() as meter:
            diagnoses = pl.concat(shown(batches, recorded.height, meter))
    except KeyboardInterrupt:
        print("Stopped; nothing was scored.", file=sys.stderr)
        return INTERRUPTED
    failing = recorded.filter(pl.col("kind") == "failure")
    score = Score(
        runs=runs.height,
        scenarios=runs_by_scenario(runs),
        excluded=runs_by_scenario(failing.join(runs, on="run_id", how="anti")),
        confidence=settings.confidence,
        methods=method_scores(runs, diagnoses, settings),
    )
    print(score.model_dump_json(indent=2) if json else _sentences(score))
    return 0


def _sentences(score: Score) -> str:
    lines = [
        f"{_counted(score.runs, 'failing run')} of {_counted(len(score.scenarios), 'scenario')}"
    ]
    if score.excluded:
        lines.append(
            f"left out: {_counted(sum(score.excluded.values()), 'run')} of scenarios that the "
            f"methods have learnt from ({', '.join(score.excluded)})"
        )
    for name, method in score.methods.items():
        accuracy = method.accuracy
        answers = ", ".join(f"{answer} {count}" for answer, count in method.answers.items())
        lines.append(
            f"{name}: accuracy {accuracy.value:.1%} "
            f"[{accuracy.ci_low:.1%}, {accuracy.ci_high:.1%}] "
            f"({score.confidence:.0%}, {accuracy.method}, n = {accuracy.n}), "
            f"right about {method.right} of {_counted(score.runs, 'run')}; answered {answers}"
        )
    return "\n".join(lines)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
