"""Stage crash_prediction: which crashes of notebooks are foreseen, and what the kernel adds."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from failbench import study as st
from failbench.crashes import cases as crashes
from failbench.crashes.cases import CrashPredictionSettings
from failbench.crashes.language import CrashAgentsSettings, replayed
from failbench.crashes.question import ARMS
from failbench.methods.llm.answer import cache_path, read_cache
from failbench.notebooks.corpus import LIBRARIES
from shared.crash_scores import (
    COMBINED,
    GAIN,
    RULES,
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

NOTEBOOKS = Path("data/notebooks")
ANSWERS = Path("data/crashes/answers.parquet")
MODELS = Path("data/llm/crashes")
READERS = Path("data/crashes/readers/edited")
PUBLISHED = Path("data/reported/crane_llm.csv")

# What is shown


def numbers(
    cases: Sequence[crashes.Case], published: pl.DataFrame, unavailable: Sequence[str]
) -> dict[str, object]:
    sizes: dict[str, dict[str, int]] = {}
    for case in cases:
        if case.part == "test":
            sizes.setdefault(case.notebook.card.pair, {})[case.version] = case.characters
    shorter = sum(each["crashing"] < each["mended"] for each in sizes.values())
    return {
        "pairs": len(sizes),
        "development_pairs": sum(case.part == "development" for case in cases) // 2,
        "shorter": shorter,
        "shorter_share": shorter / len(sizes),
        "unavailable": " and ".join(map(label_of, unavailable)),
        "published": published_gains(published),
    }


def tables(
    found: st.Estimates, gains: pl.DataFrame, published: pl.DataFrame, said: st.Captions
) -> Iterator[st.Table]:
    """Every predictor in every arm, what information adds, and accuracy by groups of notebooks."""
    tested = found.where(by="test").frame
    known = tested.unique(["predictor", "arm"], maintain_order=True)["predictor", "arm"].rows()
    body = [
        st.Row((label_of(name), told_as(name, arm)), {"predictor": name, "arm": arm})
        for name, arm in known
    ]
    for name in ("crash_prediction", "crash_prediction_parts"):
        yield st.table(name, found, None, body, said)
    yield st.table("crash_prediction_gains", found, None, gain_rows(gains, published), said)
    for by in ("library", "misuse", "difficulty"):
        groups = found.where(by=by)
        pairs = groups.frame["group", "pairs"].unique(maintain_order=True).rows()
        of_groups = [st.Row((group, str(number)), {"group": group}) for group, number in pairs]
        yield st.table(f"crash_prediction_{by}", groups, None, of_groups, said)


def main() -> None:
    said = st.Captions.read("crash_prediction")
    settings = st.read_with_statistics("crash_prediction", CrashPredictionSettings)
    agents = st.read_section("crash_agents", CrashAgentsSettings)
    published = crashes.read_published(PUBLISHED)
    recorded = crashes.ANSWER_TABLE.read(ANSWERS)
    cases = crashes.read_cases(NOTEBOOKS, settings.control_seed)
    questions = {(arm, place): case.ask(arm) for arm in ARMS for place, case in enumerate(cases)}
    models = {
        label: replayed(questions, model, agents, read_cache(cache_path(MODELS, label)))
        for label, model in agents.models.items()
    }
    answers = collect(cases, recorded, ANSWERS)
    for label, model in models.items():
        if model.predictions is not None:
            for arm in ARMS:
                answers[label, arm] = [model.predictions[arm, at] for at in range(len(cases))]

    answers |= of_readers(READERS, cases, settings.readers, agents)
    every = answered(cases, answers, ("library", "misuse", "difficulty"))
    tested = every.filter(part="test")
    misuses = tested["misuse"].unique().sort()
    groups = {"library": LIBRARIES, "misuse": misuses, "difficulty": st.DIFFICULTIES}
    parts = [(part, "", every.filter(part=part)) for part in ("test", "development")]
    for by, names in groups.items():
        parts += [(by, name, tested.filter(pl.col(by) == name)) for name in names]
    found = pl.concat(estimates(part, settings, by=by, group=name) for by, name, part in parts)
    gains = contrasts(tested, settings)
    keys, leaves = ("predictor", "arm", "metric"), (*st.ESTIMATE, "pairs")
    known = found.drop_nulls("value")
    shown = pl.col("metric").is_in(["accuracy", "recall"]) & pl.col("arm").is_in(["code", "all"])
    of_libraries = known.filter(shown, pl.col("predictor").is_in([RULES, COMBINED]), by="library")
    counts = ("available", "questions", "answered", "unreadable", "cut")
    metrics = {
        "test": st.nest(known.filter(by="test"), *keys, leaves=leaves),
        "development": st.nest(known.filter(by="development"), *keys, leaves=leaves),
        "library": st.nest(of_libraries, "group", *keys, leaves=leaves),
        "gains": st.nest(gains, "metric", "predictor", "contrast", leaves=GAIN),
        "language_models": {
            label: {key: getattr(each, key) for key in counts} for label, each in models.items()
        },
    }
    unavailable = [label for label, model in models.items() if not model.available]
    named = numbers(cases, published, unavailable)
    said = said.with_numbers(settings, named, metrics)
    # an interval that is a point is not written
    bounds = pl.when(pl.col("ci_low") < pl.col("ci_high")).then(pl.col("ci_low", "ci_high"))
    points = found.filter(by="test").drop("by", "group")
    picture = said.picture("figure", 2.9, partial(draw, points, gains, published))
    st.publish(
        "crash_prediction",
        metrics=metrics,
        points=points,
        tables=tables(st.Estimates(found.with_columns(bounds)), gains, published, said),
        figures={"crash_prediction": picture},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=points.filter(metric="accuracy"),
    )


if __name__ == "__main__":
    st.run(main)
