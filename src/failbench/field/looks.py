"""Looks: what is made of a part of the field, in totals that name no program and quote no log.

Nobody who works on reader, messages, checks or model opens the part ``test``: its answers are kept
with what is known of each run, so that totals can be made anew while the part stays unread.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

import failbench
from failbench.base.files import write_atomically
from failbench.base.replay import DENSE, AnswerTable
from failbench.base.stage import DECIMALS, read_points
from failbench.base.vocabulary import ABSTAIN
from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.readers.log import Log, joined
from failbench.field.corpus import Console
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import (
    ScenarioIntervalSettings,
    estimate_rows,
    few_or_many,
    wilson_interval,
    wilson_share,
)
from failbench.statistics.metrics import proportion
from failbench.statistics.scenario_values import over_scenarios

LOOKS: Final = "looks.csv"
ANSWERS: Final = "answers.parquet"
# Two while reader, messages, checks and model are made, one when the monitor's signs are learnt,
# and none after: what is looked at more often is no test.
ALLOWED: Final = 3
NAMED: Final = 3  # causes of an answer that count
_RESTORE: Final = "Restore it with `git checkout`."

TABLE: Final = AnswerTable(
    schema=pl.Schema({
        "look": pl.Int32(), "program": pl.String(), "run": pl.String(), "kind": pl.String(),
        "category": pl.String(), "cause": pl.String(),  # null of a healthy run
        "asked": pl.String(), "status": pl.String(), "prediction": pl.String(),
        "likeliest": pl.String(),  # the category if one must be named
        "level": pl.String(), "causes": pl.List(pl.String), "found": pl.Boolean(),
    }),
    key=("look", "program", "run", "asked"),
    unit=("look",),
    version=(),
    remedy=_RESTORE,
    options=DENSE,
)  # fmt: skip

_LOOKS: Final = pl.Schema({"look": pl.Int64(), "date": pl.String(), "commit": pl.String()})

# What is frozen at a look, as data of the package.
FROZEN: Final = {
    "models": "fitted", "messages": "messages/data", "checks": "diagnose/data",
    "causes": "causes/data",
}  # fmt: skip

TOLD, UNTOLD, NUMBERS, AGAINST = "told", "untold", "numbers", "against"
MONITOR, MONITOR_UNTOLD = "monitor", "monitor, untold"
BESIDE, BESIDE_UNTOLD = "console and monitor", "console and monitor, untold"


def without_words(log: Log) -> Log:
    """The numbers of a log alone."""
    return replace(log, events=(), words="")


def asked_of(
    log: Log, good: Log | None, watched: Log | None, *, fails: bool, in_curves: bool
) -> Iterator[tuple[str, LogDiagnosis]]:
    """What is answered to a run: whether anybody says that it failed, and by what is shown of it.

    Beside the log a run that worked is shown, of another seed where there is one, or the monitor's
    log; or that alone.
    """
    beside = None if watched is None else joined((log, watched))
    if fails:
        yield TOLD, diagnosis_of(log, failed=True)
    yield UNTOLD, diagnosis_of(log)
    if fails and in_curves:
        yield NUMBERS, diagnosis_of(without_words(log), failed=True)
    if good is not None:
        yield AGAINST, diagnosis_of(log, good=good)
    for shown, told, untold in (
        (watched, MONITOR, MONITOR_UNTOLD), (beside, BESIDE, BESIDE_UNTOLD),
    ):  # fmt: skip
        if shown is not None:
            yield untold, diagnosis_of(shown)
            if fails:
                yield told, diagnosis_of(shown, failed=True)


class Total(NamedTuple):
    """A share of answers: of which, and what holds of them."""

    name: str
    of: pl.Expr
    holds: pl.Expr
    what: str


_TOLD, _UNTOLD = pl.col("asked") == TOLD, pl.col("asked") == UNTOLD
_FAILS, _BY = pl.col("category").is_not_null(), pl.col("kind")
_RIGHT, _IS_NAMED = pl.col("prediction") == pl.col("category"), pl.col("prediction") != ABSTAIN
_LIKELIEST = pl.col("likeliest") == pl.col("category")
_KNOWN = _TOLD & pl.col("cause").is_not_null()
_FIRST = (pl.col("causes").list.first() == pl.col("cause")).fill_null(value=False)
_AMONG = pl.col("causes").list.contains(pl.col("cause"))
_STATUS, _BESIDE = pl.col("status"), pl.col("asked") == AGAINST
_SILENT = _FAILS & _BY.eq("curves")


def _totals_of(asked: str, what: str) -> Iterator[Total]:
    """Shares of answers to the monitor's logs, alone or beside consoles."""
    told, name = pl.col("asked") == asked, asked.replace(" ", "_")
    untold, known = pl.col("asked") == f"{asked}, untold", pl.col("cause").is_not_null()
    yield Total(name, told, _RIGHT, f"{what}: category right")
    for kind in ("exception", "curves", "death"):
        yield Total(f"{name}_{kind}", told & _BY.eq(kind), _RIGHT, f"{what}: right, {kind}")
    sure = told & _IS_NAMED & pl.col("level").eq("high")
    yield Total(f"{name}_likeliest", told, _LIKELIEST, f"{what}: right, if one must be named")
    yield Total(f"{name}_high", sure, _RIGHT, f"{what}: right at high")
    yield Total(f"{name}_cause", told & known, _FIRST, f"{what}: root cause first")
    yield Total(f"{name}_three", told & known, _AMONG, f"{what}: root cause in the first three")
    yield Total(f"{name}_untold", untold & _FAILS, _RIGHT, f"{what}: category right, not informed")
    failed, found = _STATUS == "failed", pl.col("found")
    yield Total(
        f"{name}_healthy_failed", untold & ~_FAILS, failed, f"{what}: healthy called failed"
    )
    yield Total(
        f"{name}_healthy_found", untold & ~_FAILS, found, f"{what}: healthy, something found"
    )


TOTALS: Final = (
    Total("accuracy", _TOLD, _RIGHT, "Category right"),
    Total("exception", _TOLD & _BY.eq("exception"), _RIGHT, "Category right of exceptions"),
    Total("curves", _TOLD & _BY.eq("curves"), _RIGHT, "Category right of what curves show"),
    Total("death", _TOLD & _BY.eq("death"), _RIGHT, "Category right of deaths"),
    Total("numbers", pl.col("asked") == NUMBERS, _RIGHT, "Of curves, from their numbers alone"),
    Total("numbers_likeliest", pl.col("asked") == NUMBERS, _LIKELIEST, "... if one must be named"),
    Total("likeliest", _TOLD, _LIKELIEST, "Category right, if one must be named"),
    Total("named", _TOLD, _IS_NAMED, "Category named"),
    Total("high", _TOLD & _IS_NAMED & pl.col("level").eq("high"), _RIGHT, "Right at high"),
    Total("medium", _TOLD & _IS_NAMED & pl.col("level").eq("medium"), _RIGHT, "Right at medium"),
    Total("low", _TOLD & _IS_NAMED & pl.col("level").eq("low"), _RIGHT, "Right at low"),
    Total("cause", _KNOWN, _FIRST, "Root cause first"),
    Total("cause_of_three", _KNOWN, _AMONG, "Root cause in the first three"),
    Total("cause_said", _KNOWN & _BY.eq("exception"), _FIRST, "Root cause first, of exceptions"),
    Total("silent", _UNTOLD & _SILENT, _STATUS == "healthy", "Silent faults called healthy"),
    Total("healthy_failed", _UNTOLD & ~_FAILS, _STATUS == "failed", "Healthy called failed"),
    Total("healthy_found", _UNTOLD & ~_FAILS, pl.col("found"), "Healthy, something found"),
    Total("untold", _UNTOLD & _FAILS, _RIGHT, "Category right, not informed"),
    Total("against", _BESIDE & _FAILS, _RIGHT, "Category right, not informed, beside a good run"),
    Total("against_curves", _BESIDE & _SILENT, _RIGHT, "Beside it, of what curves show"),
    *_totals_of(MONITOR, "With the monitor"), *_totals_of(BESIDE, "With both"),
    Total(
        "against_silent", _BESIDE & _SILENT, _STATUS == "healthy",
        "Beside it, silent faults called healthy",
    ),
    Total(
        "against_healthy", _BESIDE & ~_FAILS, _STATUS == "failed",
        "Beside it, healthy called failed",
    ),
)  # fmt: skip


def answers_to(console: Console, look: int, watched: Log | None = None) -> Iterator[dict[str, Any]]:
    """What the package answers to a console, and to the monitor's log of the same program."""
    card, fails = console.program.card, console.category is not None
    logs, kind = (console.read(), console.good(), watched), card.kind == "curves"
    for name, said in asked_of(*logs, fails=fails, in_curves=kind):
        yield {
            "look": look, "program": console.program.name, "run": console.run, "kind": card.kind,
            "category": console.category, "cause": console.cause, "asked": name,
            "status": said.status, "prediction": said.category or ABSTAIN,
            "likeliest": max(said.categories, key=said.categories.__getitem__),
            "level": said.level, "causes": [each.cause.id for each in said.hypotheses[:NAMED]],
            "found": said.status in ("failed", "unknown") and not said.is_odd,
        }  # fmt: skip


def totals_of(answers: pl.DataFrame, settings: ScenarioIntervalSettings) -> pl.DataFrame:
    """All totals of each look, as rows of estimates; of what there is none, there is no row."""
    parts = []
    for (look,), of_look in answers.group_by("look", maintain_order=True):
        rows = ((total, of_look.filter(total.of)) for total in TOTALS)
        found = {total.name: _share(part, total, settings) for total, part in rows if part.height}
        parts.append(estimate_rows(found, look=look))
    return pl.concat(parts) if parts else pl.DataFrame()


def _share(rows: pl.DataFrame, total: Total, settings: ScenarioIntervalSettings) -> Interval:
    """A share with its interval over programs."""
    if rows["category"].null_count():  # healthy runs have no categories to resample within
        share = wilson_share(rows, total.holds, "program", settings.confidence)
        size = (share["n"], settings.confidence, "program", total.what)
        return wilson_interval(share["value"], *size)
    labelled = rows.with_columns(scenario="program", seed=pl.lit(0), repeat=pl.lit(0))
    figure = proportion(total.name, over_scenarios(labelled, total.holds), total.what)
    return few_or_many(labelled, (), settings, (figure,))[total.name]


def frozen() -> dict[str, str]:
    """Fingerprints of what must not follow a look."""
    package, found = Path(failbench.__file__).parent, {}
    for name, folder in FROZEN.items():
        files = (each for each in sorted((package / folder).glob("*.*")) if each.suffix != ".py")
        found[name] = hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:16]
    return found


def read_looks(data: Path) -> pl.DataFrame:
    """Number, date and commit of each look at the part ``test``."""
    return read_points(data / LOOKS, _LOOKS, may_be_empty=True, remedy=_RESTORE)


def keep(data: Path, look: Mapping[str, Any], answers: pl.DataFrame, totals: pl.DataFrame) -> None:
    """Add a look, with its totals, and its answers to those of earlier ones."""
    path = data / "test" / ANSWERS
    TABLE.write(path, [*TABLE.read(path).to_dicts(), *answers.to_dicts()])
    values = dict(totals.select("metric", pl.col("value").round(DECIMALS)).iter_rows())
    before = pl.read_csv(data / LOOKS, infer_schema=False)
    row = pl.DataFrame({**look, **frozen(), **values}).cast(pl.String)
    table = pl.concat([before, row], how="diagonal")
    write_atomically(data / LOOKS, table.write_csv().encode(), "Free space.")
