"""Stage measure_difficulty: how often each method diagnoses the cause of each scenario."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features
from failbench.prediction.neighbours import nearest_scenarios
from shared.difficulty import KEYS, DifficultyDesign

MAIN_STUDY = Path("data/predictions/nested_cv")
ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")
FEATURES = Path("data/features/features.parquet")
SCENARIOS = Path("data/scenarios")
MEASURED = Path("data/measurements/difficulty/scenarios.parquet")
SHARES = Path("data/measurements/difficulty/shares.parquet")

RIGHT = pl.sum_horizontal(
    pl.when(pl.col("category") == answer).then(pl.col(answer)).otherwise(0.0)
    for answer in st.ANSWERS
).alias("ease")


def measure(
    predictions: pl.DataFrame,
    scenarios: tuple[st.Scenario, ...],
    failures: pl.DataFrame,
    settings: DifficultyDesign,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Each scenario and what it is taken for; shares of right answers by method and architecture.

    A run of a scenario counts by the share of its predictions that are right: over the repeats of a
    study, then over the studies that tested it. Then seeds are averaged within an architecture, and
    methods and architectures count alike. Every fit behind it had never seen the scenario.
    """
    runs = answers_to_runs(that_count(predictions, settings))
    settings_of = pl.struct("architecture", "seed").n_unique().cast(pl.Int32)
    counts = runs.group_by("scenario").agg(runs=settings_of)
    answered = averaged(runs).join(counts, on="scenario").with_columns(RIGHT)
    gives = answered.unpivot(st.ANSWERS, index=[*KEYS], variable_name="instead")
    wrong = gives.filter(pl.col("instead") != pl.col("category"))
    most = wrong.sort("scenario", -pl.col("value"), "instead").group_by("scenario").first()
    most = most.select("scenario", "instead", instead_share="value")
    answered = answered.join(most, on="scenario", maintain_order="left")
    declared = pl.DataFrame(
        [(each.id, each.difficulty, each.symptom_category, each.rationale) for each in scenarios],
        schema=dict.fromkeys(("scenario", "declared", "symptom_category", "rationale"), pl.String),
        orient="row",
    )
    for place, known in ((SCENARIOS, declared), (FEATURES, failures)):
        missing = answered.join(known, on="scenario", how="anti").sort("scenario")
        if missing.height:
            problem = f"{missing['scenario'][0]!r} was predicted and is not there."
            remedy = "Define, record and predict the same scenarios: run `dvc repro`."
            raise st.BadInputError(place, "scenario", problem, remedy)
    hard, easy = pl.col("ease") < settings.hard_below, pl.col("ease") >= settings.easy_from
    named = pl.when(hard).then(pl.lit("hard")).when(easy).then(pl.lit("easy"))
    table = (
        answered.join(declared, on="scenario")
        .with_columns(measured=named.otherwise(pl.lit("medium")))
        .join(surroundings(failures, answered, settings), on="scenario")
        .with_columns(
            by_surface=pl.col("instead") == pl.col("symptom_category"),
            by_neighbours=pl.col("neighbours_instead") > pl.col("neighbours_own"),
        )
        .sort("ease", "scenario")
    )
    return table, pl.concat([shares_by("method", runs), shares_by("architecture", runs)])


def that_count(predictions: pl.DataFrame, settings: DifficultyDesign) -> pl.DataFrame:
    known = set(predictions["method"])
    for method in sorted(set(settings.left_out) - known):
        problem, remedy = f"{method!r} was not predicted.", f"Known: {', '.join(sorted(known))}."
        raise st.BadInputError("params.yaml", "difficulty.left_out", problem, remedy)
    taken = predictions.filter(
        pl.col("study").is_in((st.NESTED_CV, st.POOLED)),
        pl.col("feature_set") == settings.feature_set,
        ~pl.col("method").is_in(settings.left_out),
    )
    for study in sorted({st.NESTED_CV, st.POOLED} - set(taken["study"])):
        problem = f"{study} has no prediction on {settings.feature_set} features that counts."
        remedy = "Run `dvc repro` for the study, and leave out fewer methods."
        raise st.BadInputError("predictions", "study", problem, remedy)
    return taken


def answers_to_runs(predictions: pl.DataFrame) -> pl.DataFrame:
    """Share of each answer to each run by each method: over repeats, then over studies."""
    keys = [*KEYS, "method", "architecture", "seed"]
    gives = ((pl.col("prediction") == answer).mean().alias(answer) for answer in st.ANSWERS)
    studies = predictions.group_by(*keys, "study", maintain_order=True).agg(gives)
    return studies.group_by(keys, maintain_order=True).agg(pl.col(st.ANSWERS).mean())


def averaged(runs: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Shares of each answer over seeds, then over methods and architectures, which count alike."""
    setting = (*KEYS, "method", "architecture")
    over_seeds = runs.group_by(*setting, maintain_order=True).agg(pl.col(st.ANSWERS).mean())
    shares = over_seeds.group_by(*KEYS, *by, maintain_order=True).agg(pl.col(st.ANSWERS).mean())
    # Shares are sums of halves, fifths and tenths: rounding keeps them on their side of a level,
    # and the file the same on every machine.
    return shares.with_columns(pl.col(st.ANSWERS).round(12))


def shares_by(view: str, runs: pl.DataFrame) -> pl.DataFrame:
    shares = averaged(runs, view).select(*KEYS, pl.lit(view).alias("view"), RIGHT, name=view)
    return shares.select(*KEYS, "view", "name", "ease").sort("view", "name", "scenario")


def surroundings(
    failures: pl.DataFrame, answered: pl.DataFrame, settings: DifficultyDesign
) -> pl.DataFrame:
    """What the runs nearest to each scenario are."""
    features, near = FEATURE_SETS[settings.feature_set], pl.col("neighbour_category")
    neighbours = nearest_scenarios(failures, features, settings.neighbours)
    joined = neighbours.join(answered.select(*KEYS, "instead"), on="scenario")
    return (
        joined.sort("scenario", "rank")
        .group_by("scenario", maintain_order=True)
        .agg(
            nearest=pl.col("neighbour").first(),
            nearest_category=near.first(),
            neighbours_own=(near == pl.col("category")).mean(),
            neighbours_instead=(near == pl.col("instead")).mean(),
        )
    )


def main() -> None:
    names = st.read_names("methods")
    others = st.across_architectures_files(names)
    predictions = [
        st.read_outputs(
            MAIN_STUDY, st.prediction_files(names), st.PREDICTION_SCHEMA, (st.LANGUAGE_MODELS,)
        ),
        st.read_outputs(ACROSS_ARCHITECTURES, others, st.PREDICTION_SCHEMA),
    ]
    study = st.read_section("nested_cv", st.ReferenceStudy)
    scenarios, shares = measure(
        pl.concat(predictions),
        st.read_scenarios(SCENARIOS),
        study.failures(read_features()),
        st.read_section("difficulty", DifficultyDesign),
    )
    st.write_parquet(scenarios, MEASURED)
    st.write_parquet(shares, SHARES)


if __name__ == "__main__":
    st.run(main)
