"""Stage equal_code: what the kernel knows and the code cannot, in notebooks of equal code."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import polars as pl

from failbench import study as st
from failbench.crashes import cases as crashes
from failbench.crashes.cases import Case, CrashPredictionSettings
from failbench.crashes.facts import deciding
from failbench.crashes.language import CrashAgentsSettings
from failbench.crashes.readers import exposed_in
from failbench.notebooks.equal import LIBRARIES
from shared.crash_scores import (
    ALL,
    ARM_LABELS,
    COMBINED,
    GAIN,
    HIT,
    MAJORITY,
    SCORES,
    SILENT,
    answered,
    collect,
    contrasts,
    draw,
    estimates,
    gain_rows,
    label_of,
    of_readers,
    published_gains,
    told_as,
)

NOTEBOOKS = Path("data/equal_notebooks")
ANSWERS = Path("data/crashes/equal_answers.parquet")
READERS = Path("data/crashes/readers/equal")
PUBLISHED = Path("data/reported/crane_llm.csv")

TAGS = ("library", "misuse", "facts", "held", "differs_by", "author")
SAYS_FACT = HIT & pl.col("says_fact")
OWN = {
    **SCORES,
    "fact": (SAYS_FACT, HIT),
    "fact_accuracy": (SAYS_FACT | SILENT, ALL),
}
"""Beside the scores of all notebooks: of crashes that are foreseen, how often what is said names
all words of the fact that decides."""


def with_facts(answers: pl.DataFrame, cases: Mapping[tuple[str, str], Case]) -> pl.DataFrame:
    """Whether the sentence about a crash has the words that any true one must have."""
    said = []
    for row in answers.rows(named=True):
        case = cases[row["pair"], row["version"]]
        text = row["reason"]
        if row["crash"] and row["predictor"] == COMBINED:
            text = deciding(case.ask(row["arm"]), row["exception"], text, row["line"]).text
        words = case.notebook.card.words
        said.append(all(word.lower() in text.lower() for word in words))
    return answers.with_columns(says_fact=pl.Series(said, dtype=pl.Boolean))


def by_exposure(tested: pl.DataFrame, settings: CrashPredictionSettings) -> Iterator[pl.DataFrame]:
    """What readers reach on questions of which their sheet showed a kernel, and on the others."""
    for reader in settings.readers:
        exposed = exposed_in(READERS / f"{reader}.csv")
        of_reader = tested.filter(predictor=reader)
        keys = ["pair", "version", "arm"]
        for group, part in (
            ("shown", of_reader.join(exposed, keys, how="semi")),
            ("not shown", of_reader.join(exposed, keys, how="anti")),
        ):
            for _, of_arm in part.group_by("arm", maintain_order=True):
                yield estimates(of_arm, settings, OWN, by="sheet", group=group)


def tables(
    found: st.Estimates, gains: pl.DataFrame, published: pl.DataFrame, said: st.Captions
) -> Iterator[st.Table]:
    """Every predictor in every arm, what each class of facts adds, and where they decide."""
    tested = found.where(by="test").frame
    known = tested.unique(["predictor", "arm"], maintain_order=True)["predictor", "arm"].rows()
    body = [
        st.Row((label_of(name), told_as(name, arm)), {"predictor": name, "arm": arm})
        for name, arm in known
    ]
    yield st.table("equal_code", found, None, body, said)
    yield st.table("equal_code_parts", found, None, body, said)
    yield st.table("equal_code_gains", found, None, gain_rows(gains, published), said)
    readers = [name for name in tested["predictor"].unique(maintain_order=True) if name not in
               (MAJORITY, "length", "pyright", "pylint")]  # fmt: skip
    rows: list[st.Row | st.Divider] = []
    for by, heading in (
        ("facts", "by class of the fact that decides"),
        ("held", "by whether a summary contains it"),
        ("differs_by", "by where the two worlds part"),
        ("library", "by library"),
    ):
        rows.append(st.Divider(heading))
        groups = found.where(by=by)
        for group, pairs in groups.frame["group", "pairs"].unique(maintain_order=True).rows():
            for name in readers if by in ("facts", "held") else (COMBINED,):
                keys = {"by": by, "group": group, "predictor": name}
                rows.append(st.Row((st.words(group), str(pairs), label_of(name)), keys))
    yield st.table("equal_code_groups", found, None, rows, said)
    sheet = found.where(by="sheet")
    body = [
        st.Row((label, group), {"arm": arm, "group": group})
        for arm, label in ARM_LABELS.items()
        for group in ("shown", "not shown")
    ]
    yield st.table("equal_code_sheets", sheet, None, body, said)


def main() -> None:
    said = st.Captions.read("equal_code")
    settings = st.read_with_statistics("crash_prediction", CrashPredictionSettings)
    agents = st.read_section("crash_agents", CrashAgentsSettings)
    published = crashes.read_published(PUBLISHED)
    recorded = crashes.ANSWER_TABLE.read(ANSWERS)
    cases = crashes.read_equal_cases(NOTEBOOKS, settings.control_seed)
    answers = collect(cases, recorded, ANSWERS) | of_readers(
        READERS, cases, settings.readers, agents
    )
    of_notebook: dict[tuple[str, str], Case] = {
        (case.notebook.card.pair, case.version): case for case in cases
    }
    every = with_facts(answered(cases, answers, TAGS), of_notebook)
    every = every.with_columns(
        pl.col("held").replace_strict({True: "held", False: "not held"}),
        # of the others there are too few for one each
        pl.when(differs_by="file")
        .then("differs_by")
        .otherwise(pl.lit("something else"))
        .alias("differs_by"),
    )
    tested = every.filter(part="test")
    parts = [(part, "", every.filter(part=part)) for part in ("test", "development")]
    for by in ("facts", "held", "differs_by", "library"):
        there = set(tested[by])
        names = LIBRARIES if by == "library" else sorted(there)
        parts += [(by, name, tested.filter(pl.col(by) == name)) for name in names if name in there]
    found = pl.concat(
        [
            *(estimates(part, settings, OWN, by=by, group=name) for by, name, part in parts),
            *by_exposure(tested, settings),
        ]
    )
    gains = contrasts(tested, settings)
    keys, leaves = ("predictor", "arm", "metric"), (*st.ESTIMATE, "pairs")
    known = found.drop_nulls("value")
    groups = known.filter(pl.col("by").is_in(["facts", "held"]), metric="accuracy")
    metrics = {
        "test": st.nest(known.filter(by="test"), *keys, leaves=leaves),
        "development": st.nest(known.filter(by="development"), *keys, leaves=leaves),
        "groups": st.nest(groups, "by", "group", "predictor", "arm", leaves=leaves),
        "gains": st.nest(gains, "metric", "predictor", "contrast", leaves=GAIN),
    }
    numbers = {
        "published": published_gains(published),
        "pairs": tested["pair"].n_unique(),
        "chance": 0.5,
        "development_pairs": every.filter(part="development")["pair"].n_unique(),
        "authors": every["author"].n_unique(),
        "not_held": tested.filter(held="not held")["pair"].n_unique(),
    }
    said = said.with_numbers(settings, numbers, metrics)
    bounds = pl.when(pl.col("ci_low") < pl.col("ci_high")).then(pl.col("ci_low", "ci_high"))
    points = found.filter(by="test").drop("by", "group")
    st.publish(
        "equal_code",
        metrics=metrics,
        points=points,
        tables=tables(st.Estimates(found.with_columns(bounds)), gains, published, said),
        figures={
            "equal_code": said.picture("figure", 2.9, partial(draw, points, gains, published))
        },
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=points.filter(metric="accuracy"),
    )


if __name__ == "__main__":
    st.run(main)
