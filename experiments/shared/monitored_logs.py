"""What is learnt of the monitor's logs: of scenarios and of whole authors left out."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from failbench import study as st
from failbench.field.monitored import BESIDE, MONITOR
from shared.authors import BOTH, A, B
from shared.diagnose_logs import AHEAD, ALL, BY_HAND, CARRIED_BOUNDS, OWN_BOUNDS
from shared.outside import CAUSE_RIGHT
from shared.ranks import GROUP as TWO_RANKS

SCENARIO, AUTHOR = "scenario", "author"  # what was left out
HEALTHY: Final = pl.col("category").is_null()
COVERAGE: Final = 0.8
HALF: Final = 0.5
PARTIAL: Final = "author_7"  # whose programs are healthy, and train a part or in parts
FORMS: Final = {OWN_BOUNDS: "own", CARRIED_BOUNDS: "carried"}
"""Whose bounds the monitor's log of an author's run is held against."""


def monitored_table(
    answers: pl.DataFrame,
    outside: pl.DataFrame,
    seed: int,
    intervals: st.ScenarioIntervalSettings,
) -> pl.DataFrame:
    """Rates by what was left out, whose runs they are, and what is read of them."""
    parts = []
    for left_out, author, form, group in groups(answers, outside, seed):
        keys = {"left_out": left_out, "author": author, "form": form}
        failing, healthy = group.filter(~HEALTHY), group.filter(HEALTHY)
        found = rates(failing, intervals) if failing.height else {}
        alarms = {"alarm": pl.col("alarm"), "alarm_by_hand": pl.col("by_hand") != st.ABSTAIN}
        for name, alarm in alarms.items():
            asked = healthy.filter(alarm.is_not_null())
            if asked.height:
                what = "probability that something is found in a healthy run"
                share = st.wilson_share(asked, alarm, "run_id", intervals.confidence)
                size = (share["n"], intervals.confidence, "run", what)
                found[name] = st.wilson_interval(share["value"], *size)
        parts.append(st.estimate_rows(found, **keys))
    return pl.concat(parts)


def groups(
    answers: pl.DataFrame, outside: pl.DataFrame, seed: int
) -> Iterator[tuple[str, str, str, pl.DataFrame]]:
    monitored = answers.filter(pl.col("model") != "log")
    for (author, form), group in monitored.group_by("author", "format", maintain_order=True):
        yield SCENARIO, str(author), form_of(str(form)), group
    both = monitored.filter(format=OWN_BOUNDS)
    yield SCENARIO, BOTH, FORMS[OWN_BOUNDS], both
    learnt = outside.filter(learnt=ALL).with_columns(
        scenario=pl.col("log"), seed=pl.col("place"), repeat=pl.lit(0)
    )
    keys = "corpus", "log", "place"
    hand = [outside.filter(learnt=BY_HAND).select(*keys, by_hand="prediction")]
    # of the same runs, of one seed, in the order in which they were asked about
    once = monitored.filter(repeat=0, seed=seed).sort("run_id")
    called = pl.format("author {}, {}", "author", "format")
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("author", "format", "scenario")
    asked = once.with_columns(corpus=called, log=pl.col("scenario"), place=place)
    hand.append(asked.filter(pl.col("kind") == "failure").select(*keys, "by_hand"))
    learnt = learnt.join(pl.concat(hand), on=keys, how="left", maintain_order="left")
    learnt = learnt.with_columns(run_id=pl.format("{} {}", "log", "seed"))
    for author in (A, B):
        for form in (OWN_BOUNDS, CARRIED_BOUNDS):
            of_form = learnt.filter(corpus=f"author {author}, {form}")
            yield AUTHOR, author, FORMS[form], of_form
    watched = learnt.filter(corpus=MONITOR)["log"].unique()
    for corpus, form in ((MONITOR, "carried"), (BESIDE, "beside"), ("field", "console")):
        group = learnt.filter(pl.col("log").is_in(watched.implode()), corpus=corpus)
        yield AUTHOR, "field", form, group
    for corpus, form in ((MONITOR, "partial"), (BESIDE, "partial_beside")):
        yield AUTHOR, "healthy", form, learnt.filter(corpus=corpus, group=PARTIAL)
    yield AUTHOR, "healthy", "ranks", learnt.filter(group=TWO_RANKS)


def form_of(form: str) -> str:
    """The short name of a form; of logs that were cut before the failure with the steps."""
    steps = form.partition(AHEAD)[0].split()[-1] if AHEAD in form else ""
    return f"ahead_{steps}" if steps else FORMS[form]


def rates(failing: pl.DataFrame, intervals: st.ScenarioIntervalSettings) -> dict[str, st.Interval]:
    """How often category, cause and evidence are right of failing runs."""
    held = "of a new scenario is right"
    known = failing.drop_nulls("cause")
    among = pl.col("cause").is_in(pl.col("next_causes"))
    component = pl.col("evidence") == pl.col("category")
    at_all = pl.col("components").list.contains(pl.col("category"))
    least = pl.col("confidence").quantile(1 - COVERAGE, "lower").over("repeat")
    sure = pl.when(pl.col("confidence") >= least).then("prediction").otherwise(pl.lit(st.ABSTAIN))
    asked = [
        ("accuracy", failing, st.right(), f"probability that the category {held}"),
        ("evidence", failing, component, f"probability that the first item's component {held}"),
        ("evidence_at_all", failing, at_all, f"probability that some item's component {held}"),
        ("cause", known, CAUSE_RIGHT, f"probability that the root cause {held}"),
        ("among_three", known, among, f"probability that one of three root causes {held}"),
        ("found", failing, pl.col("alarm"), "probability that something is found in a failing run"),
    ]
    if failing["by_hand"].count():
        hand = pl.col("by_hand") == pl.col("category")
        asked.append(("by_hand", failing, hand, f"probability that the category {held}, by hand"))
    surest = st.over_committed(failing.with_columns(prediction=sure), st.right())
    named = f"probability that the category {held}, among the surest"
    of_surest = (st.proportion("selective", surest, named),)
    found = st.few_or_many(failing, (), intervals, of_surest)
    for name, rows, holds, what in asked:
        figure = st.proportion(name, st.over_scenarios(rows, holds.fill_null(value=False)), what)
        found |= st.few_or_many(rows, (), intervals, (figure,))
    return found


def learner_table(answers: pl.DataFrame, intervals: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """How often each learner is right of authors left out, by whose runs they are."""
    field = pl.when(pl.col("left_out").is_in([A, B])).then("left_out").otherwise(pl.lit("field"))
    table = answers.with_columns(
        author=field, scenario="log", seed=pl.col("place"), repeat=pl.lit(0)
    )  # fmt: skip
    parts = []
    for (learner, author), group in table.group_by("learner", "author", maintain_order=True):
        what = "probability that the category of a log of another author is right"
        right = st.proportion("accuracy", st.over_scenarios(group, st.right()), what)
        found = st.few_or_many(group, (), intervals, (right,))
        parts.append(st.estimate_rows(found, learner=learner, author=author))
    return pl.concat(parts)


def monitored_rows(found: st.Estimates, said: st.Captions) -> st.Table:
    """What is learnt, by what was left out."""
    labels = said.labels("diagnose_logs_monitor")
    body: list[st.Row | st.Divider] = []
    for left_out, author in (
        (SCENARIO, A), (SCENARIO, B), (SCENARIO, BOTH), (AUTHOR, A), (AUTHOR, B),
        (AUTHOR, "field"), (AUTHOR, "healthy"),
    ):  # fmt: skip
        body.append(st.Divider(labels[f"{left_out} {author}"]))
        for form in (
            found.where(left_out=left_out, author=author).frame["form"].unique(maintain_order=True)
        ):
            keys = {"left_out": left_out, "author": author, "form": str(form)}
            failing = found.row(metric="accuracy", **keys)
            n = str(failing["n"]) if failing else f"{found.n(metric='alarm', **keys)} healthy runs"
            body.append(st.Row((labels[str(form)], n), keys))
    return st.table("diagnose_logs_monitor", found, None, body, said)


def early_rows(answers: pl.DataFrame, said: st.Captions) -> Iterator[tuple[str, ...]]:
    """Scenarios that are mostly named wrongly before their failure, and what had broken by then."""
    right, broken = st.right(), pl.col("components").list.len() > 0
    early = answers.filter(model="ahead")
    shares = early.group_by("author", "scenario", "category", "format").agg(
        right=right.mean(),
        broken=broken.mean(),
        told=(pl.col("components").list.contains(pl.col("category"))).mean(),
        said=pl.col("prediction").mode().sort().first(),
        logs=pl.len(),
    )
    labels = said.labels("diagnose_logs_early")
    for row in (
        shares.filter(pl.col("right") < HALF).sort("author", "right", "scenario").rows(named=True)
    ):
        why = "nothing" if row["broken"] < HALF else "other" if row["told"] < HALF else "same"
        category, named = (st.CATEGORY_LABELS[row[name]] for name in ("category", "said"))
        yield (
            row["author"], st.words(row["scenario"]), category, named, st.percent(row["right"]),
            str(row["logs"]), labels[why],
        )  # fmt: skip
