"""Verdicts: what broke in monitored runs, and what a frozen version of the rules makes of it."""

# Nothing of onsets, categories or twins enters: what is known of a run is its log, and the step at
# which the detector saw it fail, back from which it is cut.

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.known_columns import COURSE_KEYS, DECIDED, END, KNOWN_OF_RUN, LOGIC, flag_column
from failbench.monitor.breaks import Break
from failbench.monitor.end import End, EndKind
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.first_break import answer_of
from failbench.monitor.records.tables import (
    MONITORED_SCHEMA,
    Monitored,
    end_of,
    histories,
    setting_of,
)
from failbench.monitor.records.versions import NO_BOUNDS, Rules
from failbench.monitor.signals import PHASES

OWN: Final = "own"  # bounds that were fitted to healthy runs of the run's own setting

BREAK_SCHEMA: Final = pl.Schema(  # first breaks, by ``(run_id, bounds, invariant)``
    {
        "run_id": pl.String(),
        "bounds": pl.String(),  # OWN, or the setting that lent them
        "invariant": pl.String(),
        "step": pl.Int32(),
        "value": pl.Float64(),
        "compared": pl.Float64(),
    }
)

END_SCHEMA: Final = pl.Schema(  # how each run ended, and where it is cut back from
    {
        "run_id": pl.String(),
        "setting": pl.String(),
        **{
            name: MONITORED_SCHEMA[name]
            for name in ("end_kind", "end_phase", "end_step", "error", "message")
        },
        "failure_step": pl.Int32(),  # null for runs that the detector never saw
    }
)

VERDICT_SCHEMA: Final = pl.Schema(  # what is answered, keyed by ``(run_id, bounds, steps_ahead)``
    {
        "run_id": pl.String(),
        "bounds": pl.String(),
        "steps_ahead": pl.Int32(),  # of the failure; null at the end of the log
        "answer": pl.String(),
        "decided_by": pl.String(),  # an invariant or an ending; null where nothing broke
        "decided_kind": pl.String(),  # logic, statistic, symptom or ending
        "decided_step": pl.Int32(),
        "first_break": pl.Int32(),  # the step of the earliest break of any kind
        "broken": pl.Int32(),  # how many invariants broke
    }
)

BROKE: Final = {invariant.id: flag_column("broke", invariant.id) for invariant in CATALOGUE}
ENDED: Final = {kind: flag_column("ended", kind) for kind in get_args(EndKind)}
IN_PHASE: Final = {phase: flag_column("phase", phase) for phase in PHASES}

FLAGS: Final = (*BROKE.values(), *ENDED.values(), *IN_PHASE.values())
"""Columns that are 1 or 0: whether an invariant broke, how the run ended and in which phase."""

KNOWN_SCHEMA: Final = pl.Schema(  # of a run when it failed, keyed by ``run_id``
    {"run_id": pl.String(), **KNOWN_OF_RUN, **dict.fromkeys(FLAGS, pl.Float64())}
)

COURSE_SCHEMA: Final = pl.Schema(  # from a step on, and at failure, by its first three
    {**COURSE_KEYS, **KNOWN_OF_RUN, **dict.fromkeys(FLAGS, pl.Float64())}
)

RUNNING: Final = End("running", "callback", 0)  # the end of a run that still lives
Known: TypeAlias = tuple[tuple[Break, ...], End]  # what broke by some step, and the end

_ANY: Final = Bound(float("-inf"), float("inf"))


def of_halves(monitored: Monitored, halves: pl.DataFrame, wanted: Iterable[str]) -> Monitored:
    """The runs of the scenarios of some halves, and those of no scenario."""
    taken = halves.filter(pl.col("half").is_in(list(wanted)))["scenario"]
    scenario = pl.col("scenario")
    return monitored.select(scenario.is_null() | scenario.is_in(taken.to_list()))


def of_bounded_settings(monitored: Monitored, rules: Rules) -> Monitored:
    """The runs of settings that a version has bounds of."""
    keys = monitored.runs.select("run_id", "architecture", "optimizer", "scale")
    taken = [run["run_id"] for run in keys.iter_rows(named=True) if setting_of(run) in rules.bounds]
    return monitored.select(pl.col("run_id").is_in(taken))


def ends_of(runs: pl.DataFrame, detected: pl.DataFrame) -> pl.DataFrame:
    """How runs ended, and when they failed: there, or where the detector saw their recordings."""
    was_ended = ~pl.col("end_kind").is_in(["completed", "running"])
    return (
        runs.join(
            detected.select("run_id", "failure_step"),
            on="run_id",
            how="left",
            maintain_order="left",
        )
        .with_columns(
            setting=pl.Series(
                [setting_of(run) for run in runs.iter_rows(named=True)], dtype=pl.String
            ),
            failure_step=pl.when(was_ended).then("end_step").otherwise("failure_step"),
        )
        .select(END_SCHEMA.names())
        .cast(END_SCHEMA)
        .sort("run_id")
    )


def break_table(monitored: Monitored, rules: Rules, lenders: Sequence[str] = ()) -> pl.DataFrame:
    """What broke in monitored runs."""
    for lender in lenders:
        if lender not in rules.bounds:
            problem = "has no bounds to lend."
            remedy = f"Choose among {', '.join(rules.bounds) or 'none'}."
            raise BadInputError(f"version {rules.version}", lender, problem, remedy)
    rows = []
    for run, history in histories(monitored):
        setting = setting_of(run)
        conditions = {OWN: rules.bounds.get(setting, NO_BOUNDS)}
        conditions |= {lender: rules.bounds[lender] for lender in lenders if lender != setting}
        for name, fitted in conditions.items():
            rows += [
                (run["run_id"], name, each.invariant.id, each.step, each.value, each.compared)
                for each in rules.procedure.breaks(history, rules.invariants, fitted)
            ]
    return pl.DataFrame(rows, schema=BREAK_SCHEMA, orient="row")


def verdict_table(
    breaks: pl.DataFrame,
    ends: pl.DataFrame,
    rules: Rules,
    steps_ahead: Sequence[int | None] = (None,),
    bounds: Sequence[str] = (OWN,),
) -> pl.DataFrame:
    """What is answered of runs: at the end of their logs, and some steps before they failed."""
    # Breaks are causal, so that those of a log that is cut are those that it had by then. A run
    # that is cut still lives: nothing is known of its end. At 0 steps ahead it is, if the run was
    # ended there.
    rows = []
    for run, name, broken in _stored_breaks(breaks, ends, rules, bounds):
        for ahead in steps_ahead:
            cut = _cut(run, broken, ahead)
            if cut is not None:
                key = {"run_id": run["run_id"], "bounds": name, "steps_ahead": ahead}
                rows.append(key | verdict(*cut, rules))
    return pl.DataFrame(rows, schema=VERDICT_SCHEMA)


def _stored_breaks(
    breaks: pl.DataFrame, ends: pl.DataFrame, rules: Rules, bounds: Sequence[str]
) -> Iterator[tuple[dict[str, Any], str, tuple[Break, ...]]]:
    known = {invariant.id: invariant for invariant in rules.invariants}
    parts: dict[tuple[str, str], list[Break]] = {}
    for run_id, name, invariant, *when in breaks.select(BREAK_SCHEMA.names()).iter_rows():
        step, value, against = when
        broken = Break(known[invariant], step, value, against, _ANY)
        parts.setdefault((run_id, name), []).append(broken)
    for run in ends.iter_rows(named=True):
        for name in bounds:
            if name != run["setting"]:  # its own bounds are no borrowed ones
                yield run, name, tuple(parts.get((run["run_id"], name), ()))


def _cut(run: Mapping[str, Any], broken: tuple[Break, ...], ahead: int | None) -> Known | None:
    """What was known of a run some steps before its failure; None where it had not begun."""
    end = end_of(run)
    if ahead is None:
        return broken, end
    if run["failure_step"] is None or run["failure_step"] < ahead:
        return None
    last = run["failure_step"] - ahead
    known = tuple(each for each in broken if each.step <= last)
    return known, end if ahead == 0 and end.failed else RUNNING


def verdict(broken: tuple[Break, ...], end: End, rules: Rules) -> dict[str, Any]:
    """What is answered of a run, by the last columns of :data:`VERDICT_SCHEMA`."""
    decided_by = rules.procedure.decide(broken, end, rules.endings)
    answered: dict[str, Any] = {
        "answer": answer_of(decided_by),
        "first_break": min((each.step for each in broken), default=None),
        "broken": len(broken),
    }
    if decided_by is None:
        return answered
    by, kind, step = (
        (decided_by.invariant.id, decided_by.invariant.kind, decided_by.step)
        if isinstance(decided_by, Break)
        else (decided_by.id, "ending", end.step)
    )
    return answered | {"decided_by": by, "decided_kind": kind, "decided_step": step}


def known_table(breaks: pl.DataFrame, ends: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What a version of the rules knew of runs at their failure, by bounds of their setting."""
    of_setting = breaks.filter(pl.col("bounds") == OWN)
    course = known_course(of_setting, ends, rules)
    at_failure = course.filter(pl.col("bounds") == OWN, pl.col("step").is_null())
    return at_failure.select(KNOWN_SCHEMA.names())


def known_course(
    breaks: pl.DataFrame, ends: pl.DataFrame, rules: Rules, lenders: Sequence[str] = ()
) -> pl.DataFrame:
    """What one version of the rules knew of runs at every step, and when they failed."""
    # Breaks are causal: a log that is cut shows those by then, of a run that lives. What a log says
    # after a failure is left out, as of features; of a run that never failed the whole log counts.
    fixed = [invariant.id for invariant in rules.invariants if invariant.bound is not None]
    of_logic = breaks.filter(pl.col("bounds") == OWN, pl.col("invariant").is_in(fixed))
    breaks = pl.concat([breaks, of_logic.with_columns(bounds=pl.lit(LOGIC))])
    statements = {each.id: each.statement for each in rules.invariants}
    statements |= {each.id: each.statement for each in rules.endings}
    rows = []
    for run, bounds, broken in _stored_breaks(breaks, ends, rules, (OWN, LOGIC, *lenders)):
        cuts: dict[int | None, Known] = {None: _cut(run, broken, 0) or (broken, end_of(run))}
        if bounds == OWN:
            for by in sorted({0, *(each.step for each in broken)}):
                cuts[by] = tuple(each for each in broken if each.step <= by), RUNNING
        for step, (known, end) in cuts.items():
            key = {"run_id": run["run_id"], "bounds": bounds, "step": step}
            rows.append(key | _knowledge(known, end, rules, statements))
    return pl.DataFrame(rows, schema=COURSE_SCHEMA).sort(COURSE_KEYS.names())


def _knowledge(
    broken: tuple[Break, ...], end: End, rules: Rules, statements: Mapping[str, str]
) -> dict[str, Any]:
    known = verdict(broken, end, rules)
    known |= {"end_kind": end.kind, "end_phase": end.phase, "end_error": end.error}
    row: dict[str, Any] = {name: known.get(name) or "" for name in (*DECIDED, *END)}
    row["decided_step"] = known.get("decided_step")
    row["statement"] = statements.get(row["decided_by"], "")
    names = {each.invariant.id for each in broken}
    row |= {column: float(name in names) for name, column in BROKE.items()}
    row |= {column: float(end.kind == kind) for kind, column in ENDED.items()}
    return row | {column: float(end.phase == phase) for phase, column in IN_PHASE.items()}


def with_known(features: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """A feature table with what the monitor knows beside it, of the runs that were monitored."""
    return features.join(known, on="run_id", how="inner", maintain_order="left")
