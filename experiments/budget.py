"""Stage budget: what a monitor that keeps to a budget costs, and what its log still tells."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from failbench import study as st
from shared.budget import ANSWERS, BEGINNING, SETTLED

ANSWERED = Path("data/measurements/budget.parquet")
COST = Path("data/monitor/budget.csv")

KEYS = ("author", "schedule", "metric")
NONE = "none"
COSTS = pl.Schema(
    {
        "nominal_milliseconds": pl.Float64(),
        "milliseconds": pl.Float64(),
        "steps": pl.Int64(),
        "ratio": pl.Float64(),
        "ratio_from_start": pl.Float64(),
        "ratio_without_budget": pl.Float64(),
        "memory_ratio": pl.Float64(),
    }
)


def scheduled(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers with the name of their schedule, as predictions of a study of that name."""
    name = pl.format(
        "{}_{}_{}",
        pl.col("milliseconds").cast(pl.Int64),
        (100 * pl.col("share")).round().cast(pl.Int64),
        pl.col("state").str.replace_all(" ", "_"),
    )
    schedule = pl.when(pl.col("share").is_null()).then(pl.lit(NONE)).otherwise(name)
    return answers.with_columns(schedule=schedule, study=schedule, repeat=pl.lit(0), fold=pl.lit(0))


def estimates(answers: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """Rates by author and schedule, and the difference to no budget."""
    parts = []
    for (author, schedule), group in answers.group_by("author", "schedule", maintain_order=True):
        failing = group.filter(kind="failure")
        what = "probability that the category of a log of another author is right"
        right = st.proportion("accuracy", st.over_scenarios(failing, st.right()), what)
        found = st.few_or_many(failing, (), settings, (right,))
        for name, kind in (("found", "failure"), ("alarm", "twin")):
            asked = group.filter(kind=kind)
            if asked.height:
                share = st.wilson_share(asked, pl.col("alarm"), "run_id", settings.confidence)
                what = f"probability that something is found in a run: {kind}"
                size = (share["n"], settings.confidence, "run", what)
                found[name] = st.wilson_interval(share["value"], *size)
        kept = st.wilson_share(failing, pl.col("kept"), "run_id", settings.confidence)
        what = "values in a log, of those without a budget"
        size = (kept["n"], settings.confidence, "run", what)
        found["kept"] = st.wilson_interval(kept["value"], *size)
        if schedule != NONE:
            both = answers.filter(
                pl.col("schedule").is_in([schedule, NONE]), author=author, kind="failure"
            )
            what = "how much more probable a right category is than without a budget"
            found["difference"] = st.study_difference(both, str(schedule), NONE, settings, what)
        parts.append(st.estimate_rows(found, author=author, schedule=schedule))
    return pl.concat(parts)


def tables(found: st.Estimates, costs: pl.DataFrame, said: st.Captions) -> Iterator[st.Table]:
    """Accuracy by schedule, and what loops take."""
    labels = said.labels("budget")
    of_none = {"schedule": NONE}
    body: list[st.Row | st.Divider] = [st.Row((labels[NONE], "–"), of_none)]
    for state in (BEGINNING, SETTLED):
        body.append(st.Divider(labels[state]))
        for name in found.distinct("schedule"):
            milliseconds, percent, of_state = [*str(name).split("_", 2), "", ""][:3]
            if of_state == state.replace(" ", "_"):
                texts = (f"{milliseconds} ms", f"{percent} %")
                body.append(st.Row(texts, {"schedule": name}))
    yield st.table("budget", found, None, body, said)
    rows = [
        (
            f"{row['nominal_milliseconds']:g} ms",
            f"{row['milliseconds']:.1f} ms",
            str(row["steps"]),
            *(
                f"{row[name]:.3f}"
                for name in ("ratio", "ratio_from_start", "ratio_without_budget", "memory_ratio")
            ),
        )
        for row in costs.to_dicts()
    ]
    yield st.sheet("budget_cost", rows, said)


def main() -> None:
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    answers = scheduled(st.read_output(ANSWERED, ANSWERS))
    measured = estimates(answers, settings)
    costs = st.read_points(COST, COSTS, remedy="Restore it with `git checkout`.")
    of_cost = {
        f"ms_{row['nominal_milliseconds']:g}": {
            name: value for name, value in row.items() if name != "nominal_milliseconds"
        }
        for row in costs.to_dicts()
    }
    nested = st.nest(measured, *KEYS)
    said = st.Captions.read("budget", nested, settings, of_cost)
    st.publish_estimates(
        "budget",
        measured,
        KEYS,
        metrics={"cost": of_cost},
        tables=tables(st.Estimates(measured), costs, said),
        sentences={"finding": said.text("finding", "text") + "\n"},
    )


if __name__ == "__main__":
    st.run(main)
