"""Stage measure_diagnose_logs: diagnoses of logs out of fold, and the model of the package.

It learns from the benchmark's runs, as logs of all formats and as the monitor's, from the runs of
its second author, from programs of the field, and from public reports. It is tested on scenarios
left out, and on authors and owners left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.base import measuring as st
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.finding import look_up
from failbench.diagnose.fitting import fitted
from failbench.diagnose.known import KnownLog
from failbench.diagnose.model import (
    Model,
    cause_names,
    read_model,
    supports_of,
    write_model,
)
from failbench.diagnose.signs import says_end
from failbench.diagnose.words import (
    NO_SUPPORT,
    WordWeights,
    no_words,
    read_words,
    write_words,
)
from failbench.field.corpus import NUMBERS, TABLE
from failbench.neighbours.rendering.formats import FORMATS, read_files, rendered
from failbench.neighbours.rendering.run import COMPLETE, complete_shape, draw_shape, logged_run
from failbench.prediction.splits import make_splits, rows_in_fold
from known_logs import (
    FIELD,
    Example,
    Outside,
    Run,
    bounds_of_monitor,
    example_of,
    known_log,
    monitored_examples,
    read_of_a,
    read_of_b,
    read_outside,
)
from shared.against import against_table, benchmark_pairs, field_pairs
from shared.authors import A, B
from shared.diagnose_logs import (
    ALL,
    ANSWER_SCHEMA,
    BENCHMARK,
    CURVES,
    EVIDENCE_SCHEMA,
    OUTSIDE_SCHEMA,
    WITHOUT_MESSAGES,
    WITHOUT_WORDS,
    WORDS,
    DiagnosedLogs,
)
from shared.reading import field_reading, rendering_reading
from shared.simpler import components, curves_alone, simple_answers, without_messages

TELEMETRY = Path("data/telemetry")
ANSWERS = Path("data/measurements/diagnose_logs/answers.parquet")
AGAINST = Path("data/measurements/diagnose_logs/against.parquet")
EVIDENCE = Path("data/measurements/diagnose_logs/evidence.parquet")
OUTSIDE = Path("data/measurements/diagnose_logs/outside.parquet")
READING = Path("data/measurements/diagnose_logs/reading.parquet")
WORDS_TABLE = Path("src/failbench/fitted/words.npy")
SPREADS_TABLE = Path("src/failbench/fitted/spreads.csv")
FITTED = Path("src/failbench/fitted/log.json")

COMPLETE_FORMAT = "key_equals"
NEXT: Final = 3
"""Causes of an answer that are kept."""


def with_steps(telemetry: st.Telemetry) -> list[tuple[Run, pl.DataFrame]]:
    """Runs, each with its steps."""
    parts = telemetry.steps.partition_by("run_id", as_dict=True)
    none = telemetry.steps.clear()
    runs = telemetry.runs.iter_rows(named=True)
    return [(run, parts.get((run["run_id"],), none)) for run in runs]


def rendered_examples(
    telemetry: st.Telemetry, formats_per_run: int, seed: int, workers: int
) -> list[Example]:
    """Render runs and take the signs of what is read back."""
    runs = with_steps(telemetry)
    blocks = [(runs[at :: workers * 4], formats_per_run, seed) for at in range(workers * 4)]
    examples = [each for part in st.parallel_map(_rendered, blocks, workers) for each in part]
    return sorted(examples, key=lambda each: each["run_id"])


def _rendered(
    runs: Sequence[tuple[Run, pl.DataFrame]], formats_per_run: int, seed: int
) -> list[Example]:
    examples = []
    with TemporaryDirectory() as folder:
        for recorded, steps in runs:
            rng = np.random.default_rng([seed, *recorded["run_id"].encode()])
            last = recorded["failure_step"] if recorded["kind"] == "failure" else None
            logged = logged_run(recorded, steps, last)
            places = sorted(rng.choice(len(FORMATS), formats_per_run, replace=False))
            for name in (*(FORMATS[at] for at in places), COMPLETE):
                whole = name == COMPLETE
                form = COMPLETE_FORMAT if whole else name
                shape = complete_shape(form) if whole else draw_shape(form, rng)
                log = read_files(rendered(logged, form, shape, rng), Path(folder))
                examples.append(example_of(recorded, name, log, {}))
    return examples


def cross_validated(
    examples: Sequence[Example],
    splits: pl.DataFrame,
    outside: Outside,
    settings: DiagnosedLogs,
    workers: int,
) -> pl.DataFrame:
    """Diagnoses out of fold.

    Twins are tested with their scenario; successes, which have none, in folds of their own.
    """
    folds = splits["fold"].n_unique()
    scenarios = np.array([each["scenario"] for each in examples], dtype=object)
    is_success = np.array([each["kind"] == "success" for each in examples])
    places = np.unique(scenarios[is_success].astype(str), return_inverse=True)[1]
    order = np.random.default_rng(settings.seed).permutation(places.max() + 1)
    fold_of_success = np.full(len(examples), -1)
    fold_of_success[is_success] = order[places] % folds
    tasks = []
    for repeat, fold in product(range(settings.repeats), range(folds)):
        tested = rows_in_fold(splits, scenarios, repeat, fold) | (fold_of_success == fold)
        tasks.append((examples, tested, outside, settings, repeat, fold))
    answers = pl.concat(st.parallel_map(_fold, tasks, workers))
    return answers.sort("model", "repeat", "fold", "run_id", "format")


def _fold(
    examples: Sequence[Example],
    tested: st.Mask,
    outside: Outside,
    settings: DiagnosedLogs,
    repeat: int,
    fold: int,
) -> pl.DataFrame:
    learnt = [each for each, held in zip(examples, tested, strict=True) if not held]
    made = fitted_to(learnt, outside, settings, "training folds")
    held_out = [each for each, held in zip(examples, tested, strict=True) if held]
    keys = {"repeat": repeat, "fold": fold}
    rows = [{**keys, **each, **said_by(made, known_log(each))} for each in held_out]
    return pl.DataFrame(rows, schema=ANSWER_SCHEMA)


Fitted = tuple[Model, WordWeights | None]


def fitted_to(
    learnt: Iterable[Example], outside: Outside, settings: DiagnosedLogs, words: str
) -> Fitted:
    known = [*map(known_log, learnt), *outside.logs]
    return fitted(known, settings, words, outside.said)


def said_by(made: Fitted, log: KnownLog) -> dict[str, Any]:
    model, words = made
    support = NO_SUPPORT if words is None else words.support(log.words)
    supports = supports_of(log.signs, model.bounds.of(log.signs), support)
    weighed = model.weighed(supports)
    shown = components(log.signs, cause_names()[weighed.cause], model.by_nature)
    return {
        "alarm": model.is_alarm(says_end(log.signs), log.signs, supports),
        "prediction": st.CATEGORIES[weighed.category],
        "confidence": round(float(weighed.categories[weighed.category]), st.DECIMALS),
        "predicted_cause": cause_names()[weighed.cause],
        "cause_confidence": round(float(weighed.causes[weighed.cause]), st.DECIMALS),
        "next_causes": sorted(cause_names()[at] for at in _first(weighed.causes)),
        "healthy": round(model.healthy(log.signs), st.DECIMALS),
        "evidence": next(iter(shown), None),
        "components": shown,
    }


def _first(causes: st.Array) -> st.Array:
    """The most probable; of causes about as probable the first, and not as a processor rounds."""
    return np.asarray(np.argsort(-causes.round(3), kind="stable")[:NEXT])


def outside_answers(
    examples: Sequence[Example], outside: Outside, settings: DiagnosedLogs, workers: int
) -> pl.DataFrame:
    """Answers to logs of others whose authors and owners were left out, by what was learnt."""
    by_author: dict[str, list[KnownLog]] = {A: [], B: []}
    for each in (example for example in examples if example["model"] != "log"):
        by_author[each["author"]].append(known_log(each, f"author {each['author']}"))
    outside = outside._replace(logs=(*outside.logs, *by_author[B]))
    groups = sorted({log.group for log in outside.logs})
    order = np.random.default_rng(settings.seed).permutation(len(groups))
    folds = (order % settings.outside_folds).tolist()
    fold_of = dict(zip(groups, folds, strict=True))
    examples = [each for each in examples if each["author"] == A]
    of_numbers = [
        {**each, "signs": curves_alone(known_log(each)).signs, "words": no_words()}
        for each in examples
    ]
    unread = [{**each, "signs": without_messages(known_log(each)).signs} for each in examples]
    tasks: list[tuple[Any, ...]] = [
        (examples, outside.logs, Outside(), (BENCHMARK,), settings),
        ((), by_author[A], outside, (ALL,), settings),
    ]
    for fold in range(settings.outside_folds):
        tested = tuple(log for log in outside.logs if fold_of[log.group] == fold)
        others = tuple(log for log in outside.logs if fold_of[log.group] != fold)
        mute = tuple(replace(log, teaches_words=False) for log in others)
        tasks.append((examples, tested, Outside(others, outside.said), (ALL, WORDS), settings))
        tasks.append((examples, tested, Outside(mute), (WITHOUT_WORDS,), settings))
        curves = tuple(map(curves_alone, tested)), Outside(tuple(map(curves_alone, others)))
        tasks.append((of_numbers, *curves, (CURVES,), settings))
        blind = tuple(map(without_messages, tested)), Outside(tuple(map(without_messages, others)))
        tasks.append((unread, *blind, (WITHOUT_MESSAGES,), settings))
    simple = [*simple_answers(outside.logs), *outside.by_hand]
    found = st.parallel_map(_outside_fold, tasks, workers)
    answers = pl.concat([*found, pl.DataFrame(simple, schema=OUTSIDE_SCHEMA)])
    named = dict(outside.parts)
    parts = pl.col("log").replace_strict(named, default=None, return_dtype=pl.String)
    keys = "learnt", "corpus", "log"
    answers = answers.with_columns(part=parts, place=pl.int_range(pl.len()).over(keys))
    return answers.select(OUTSIDE_SCHEMA.names()).cast(OUTSIDE_SCHEMA).sort(*keys, "place")


def _outside_fold(
    examples: Sequence[Example],
    tested: Sequence[KnownLog],
    others: Outside,
    learnt: Sequence[str],
    settings: DiagnosedLogs,
) -> pl.DataFrame:
    made = fitted_to(examples, others, settings, "training folds")
    rows = []
    for name, log in product(learnt, tested):
        said = said_by(made, log)
        if name == WORDS and made[1] is not None:
            said["prediction"] = st.CATEGORIES[int(made[1].support(log.words).categories.argmax())]
        about = {"learnt": name, "corpus": log.setting, "log": log.scenario, "group": log.group}
        rows.append({**about, "category": log.category, "cause": log.cause, **said})
    return pl.DataFrame(rows, schema=OUTSIDE_SCHEMA)


def splits_of_b(examples: Sequence[Example], folds: int, settings: DiagnosedLogs) -> pl.DataFrame:
    """Folds of the second author's scenarios, of rare categories with those of the first."""
    labels = {each["scenario"]: each["category"] for each in examples if each["category"]}
    table = pl.DataFrame({"scenario": [*labels], "category": [*labels.values()]})
    of_both = make_splits(table, folds, settings.repeats, settings.seed)
    of_b = {each["scenario"] for each in examples if each["author"] == B}
    return of_both.filter(pl.col("scenario").is_in(of_b))


def evidence_table(
    telemetry: st.Telemetry, made: Fitted, logs: int, seed: int, workers: int
) -> pl.DataFrame:
    """Look up all evidence of the diagnoses of some logs of failing runs."""
    failing = telemetry.runs.filter(kind="failure").sort("run_id")["run_id"].to_list()
    rng = np.random.default_rng(seed)
    taken = rng.choice(len(failing), min(logs, len(failing)), replace=False)
    runs = with_steps(telemetry.select(pl.col("run_id").is_in([failing[at] for at in taken])))
    blocks = [(runs[start::workers], made, seed) for start in range(workers)]
    rows = [row for part in st.parallel_map(_looked_up, blocks, workers) for row in part]
    return pl.DataFrame(rows, schema=EVIDENCE_SCHEMA, orient="row").sort("run_id", "item")


def _looked_up(
    runs: Sequence[tuple[Run, pl.DataFrame]], made: Fitted, seed: int
) -> list[tuple[str, int, str, str, str, bool]]:
    rows: list[tuple[str, int, str, str, str, bool]] = []
    for recorded, steps in runs:
        rng = np.random.default_rng([seed, *recorded["run_id"].encode()])
        format_name = FORMATS[rng.integers(len(FORMATS))]
        logged = logged_run(recorded, steps, recorded["failure_step"])
        files = rendered(logged, format_name, draw_shape(format_name, rng), rng)
        with TemporaryDirectory() as folder:
            log = read_files(files, Path(folder))
        told = diagnosis_of(log, model=made[0], weights=made[1], failed=True)
        for item, finding in enumerate(told.findings):
            checked_by, found = look_up(finding, log, files)
            rows.append((recorded["run_id"], item, format_name, finding.kind, checked_by, found))
    return rows


def reading_table(
    declared: pl.DataFrame, telemetry: st.Telemetry, settings: DiagnosedLogs
) -> pl.DataFrame:
    """What is read of programs of the field, and of runs of the first seed."""
    runs = telemetry.select(pl.col("seed") == settings.run_seeds[0])
    rendered = rendering_reading(runs, settings.reading_runs, settings.seed)
    return pl.concat([field_reading(declared, FIELD, "development"), rendered])


def main() -> None:
    settings = st.read_section("diagnose_logs", DiagnosedLogs)
    splits = st.first_repeats(st.read_splits(), settings.repeats, "diagnose_logs.repeats")
    taken = pl.col("kind").is_in(["failure", "twin"]) & pl.col("seed").is_in(settings.run_seeds)
    telemetry = st.read_telemetry(TELEMETRY).select(taken | (pl.col("kind") == "success"))
    bounds = bounds_of_monitor(settings.monitor_version)
    watched = read_of_a(bounds), read_of_b(bounds)
    declared = TABLE.read(FIELD / "development" / NUMBERS)
    others, ahead = read_outside(bounds.carried), settings.steps_ahead
    of_monitor = [
        example for each in watched for example in monitored_examples(each, ahead, st.workers())
    ]
    rendered = rendered_examples(telemetry, settings.formats_per_run, settings.seed, st.workers())
    complete = (each for each in rendered if each["format"] == COMPLETE)
    against, spreads = against_table(
        [*field_pairs(FIELD), *benchmark_pairs(complete, settings.run_seeds)]
    )
    st.write_parquet(against, AGAINST)
    pl.DataFrame([dict(each) for each in spreads]).write_csv(SPREADS_TABLE)
    examples = rendered + of_monitor
    folds = splits["fold"].n_unique()
    of_both = pl.concat([splits, splits_of_b(of_monitor, folds, settings)])
    answers = cross_validated(examples, of_both, others, settings, st.workers())
    st.write_parquet(answers, ANSWERS)
    fitted_on = f"{len(examples)} logs of the benchmark, {len(others.logs)} of others"
    model, words = fitted_to(examples, others, settings, fitted_on)
    assert words is not None
    write_model(FITTED, model)
    write_words(WORDS_TABLE, words)
    # a cause weighs one, however many seeds it has: a third of the logs fits in a third of the time
    of_seed = [each for each in examples if each["seed"] == settings.run_seeds[0]]
    st.write_parquet(outside_answers(of_seed, others, settings, st.workers()), OUTSIDE)
    st.write_parquet(reading_table(declared, telemetry, settings), READING)
    made = read_model(FITTED), read_words(WORDS_TABLE)
    evidence = evidence_table(telemetry, made, settings.evidence_logs, settings.seed, st.workers())
    st.write_parquet(evidence, EVIDENCE)
    right = (pl.col("prediction") == pl.col("category")).mean()
    cause = (pl.col("predicted_cause") == pl.col("cause")).mean()
    by_model = answers.filter(kind="failure").group_by("model", "author", maintain_order=True)
    summary = by_model.agg(logs=pl.len(), accuracy=right, cause=cause)
    st.print_table(summary.columns, summary.rows())


if __name__ == "__main__":
    st.run(main)
