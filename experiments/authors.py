"""Stage authors: what methods are worth on causes that another author has written."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from failbench import study as st
from recordings import read_scenarios_of
from shared.authors import (
    A_TO_B,
    B_TO_A,
    BOTH,
    EVIDENCE_SCHEMA,
    UNSEEN,
    VERSION_SCHEMA,
    WITHIN_A,
    WITHIN_B,
    AuthorsDesign,
    Reading,
)

READERS = Path("data/author_b/readers.csv")
SCENARIOS = Path("data/author_b/scenarios")
PREDICTIONS = Path("data/predictions/authors")
EVIDENCE = Path("data/measurements/authors/evidence.parquet")
VERSIONS = Path("data/measurements/authors/versions.parquet")
ELSEWHERE = "_elsewhere"
"""Ends the names of studies of the other setting."""

OWN, OTHER = "own", "other"
KEYS = ("method", "study", "metric")
LOST, OTHERS, LOST_MORE = "lost", "other_less_own", "lost_more"
ESTIMANDS = {
    LOST: "accuracy on new scenarios of author A less that on scenarios of author B, by what was "
    "learnt of author A's",
    OTHERS: "how much more probable a right diagnosis is by fits to another author's scenarios "
    "than by fits to those of the same author",
    LOST_MORE: "loss of accuracy from scenarios of author A to those of author B by rules, less "
    "that by a fit to the same invariants",
}
RULES = "invariants"
VERSION = "version_"
"""Begins the names of frozen versions of the rules by hand, of which the last is ``RULES``."""
LEARNT = ("forest_on_invariants", "ebm_on_invariants")
"""Methods that learn what the invariants of the rules mean."""
BLIND = "blind methods"
"""Who is meant where all methods that have seen no scenario count alike."""


def read_readers() -> pl.DataFrame:
    """Of each cause of author B its components, and whether the catalogue has it, to any reader."""
    rows = st.read_rows(READERS, Reading, "Restore it with git.", ("scenario", "reader"))
    table = pl.DataFrame([row.model_dump() for row in rows])
    named = pl.concat([pl.col("component"), pl.col("second_component")])
    return table.group_by("scenario").agg(
        components=named.filter(named != "").unique().sort(),
        has_cause=(pl.col("cause") != "none").any(),
    )


def of_all_studies(main: pl.DataFrame, asked: pl.DataFrame, design: AuthorsDesign) -> pl.DataFrame:
    """Predictions on the primary features, by study; those within author A are the main study's."""
    own = main.filter(feature_set=st.PRIMARY_SET).with_columns(study=pl.lit(WITHIN_A))
    asked_of = own.join(asked, on="method", how="semi")
    away = pl.when(design.elsewhere.runs).then(pl.lit(ELSEWHERE)).otherwise(pl.lit(""))
    return pl.concat([asked_of, asked.with_columns(study=pl.col("study") + away)])


def of_versions(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers of frozen versions as predictions: on A where a version was not developed, on B."""
    unseen = [
        (pl.col("version") == version) & pl.col("half").is_in(halves)
        for version, halves in UNSEEN.items()
    ]
    of_b = pl.col("half").is_null()
    return answers.filter(of_b | pl.any_horizontal(unseen)).select(
        "run_id",
        "scenario",
        "category",
        "seed",
        method=VERSION + pl.col("version"),
        study=pl.when(of_b).then(pl.lit(A_TO_B)).otherwise(pl.lit(WITHIN_A)),
        repeat=pl.lit(0),
        prediction=pl.col("answer"),
    )


def estimates(
    predictions: pl.DataFrame,
    versions: pl.DataFrame,
    evidence: pl.DataFrame,
    readers: pl.DataFrame,
    settings: st.ScenarioIntervalSettings,
    workers: int,
) -> pl.DataFrame:
    """Accuracy in each study, what is lost with the author, and what the monitor pointed at."""
    accurate = (st.METRICS["accuracy"],)
    every = pl.concat([predictions.select(versions.columns), versions], how="vertical_relaxed")
    parts = [st.of_groups(every, KEYS[:2], partial(accuracy, settings), workers)]
    two_sided = every.join(every.filter(study=WITHIN_A), on="method", how="semi")
    parts.append(st.of_groups(two_sided, KEYS[:1], partial(changes, settings), workers))
    parts.append(comparisons(two_sided, settings))
    carried = predictions.filter(study=A_TO_B).join(readers, on="scenario")
    for (method, has), part in carried.group_by("method", "has_cause", maintain_order=True):
        named = "with_cause" if has else "without_cause"
        found = st.few_or_many(part, accurate, settings)["accuracy"]
        parts.append(st.estimate_rows({named: found}, method=method, study=A_TO_B))
    pointed = pointing(evidence.join(readers, on="scenario"), settings)
    parts.append(pointed.with_columns(method=pl.lit(RULES), study=pl.lit(A_TO_B)))
    return pl.concat(parts, how="diagonal_relaxed").select(*KEYS, *st.ESTIMATE)


def accuracy(
    settings: st.ScenarioIntervalSettings, part: pl.DataFrame, **keys: Any
) -> pl.DataFrame:
    return st.of_scenarios(part, (st.METRICS["accuracy"],), settings, **keys)


def changes(settings: st.ScenarioIntervalSettings, part: pl.DataFrame, **keys: Any) -> pl.DataFrame:
    """What changes with the author: of the tested causes, and of those that were learnt from."""
    within, carried = (part.filter(study=study) for study in (WITHIN_A, A_TO_B))
    lost = st.independent_difference(within, carried, settings, ESTIMANDS[LOST])
    found = {LOST: lost}
    sides = {WITHIN_A: OWN, WITHIN_B: OWN, A_TO_B: OTHER, B_TO_A: OTHER}
    if set(sides) <= set(part["study"]):
        paired = part.filter(pl.col("study").is_in(list(sides)))
        paired = paired.with_columns(pl.col("study").replace_strict(sides))
        found[OTHERS] = st.study_difference(paired, OTHER, OWN, settings, ESTIMANDS[OTHERS])
    return st.estimate_rows(found, study=BOTH, **keys)


def comparisons(answers: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """How much more rules lose than what is fitted to their invariants; the study is the rules."""
    parts = answers.partition_by("method", as_dict=True)
    return pl.concat(
        st.estimate_rows(
            {LOST_MORE: lost_more(parts[rules,], parts[learnt,], settings)},
            method=learnt,
            study=rules,
        )
        for rules in (RULES, *(VERSION + version for version in UNSEEN))
        for learnt in LEARNT
        if {(rules,), (learnt,)} <= set(parts)
    )


def lost_more(
    rules: pl.DataFrame, learnt: pl.DataFrame, settings: st.ScenarioIntervalSettings
) -> st.Interval:
    """The loss with the author by rules less that by a fit, paired on the runs that both answer."""
    by_rules = rules.group_by("study", "run_id").agg(by_rules=st.right().cast(pl.Float64).mean())
    paired = learnt.join(by_rules, on=["study", "run_id"])
    within, carried = (paired.filter(study=study) for study in (WITHIN_A, A_TO_B))
    ahead = pl.col("by_rules") - st.right().cast(pl.Float64)
    return st.independent_difference(within, carried, settings, ESTIMANDS[LOST_MORE], ahead)


def pointing(evidence: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """How often the monitor's evidence is about a component that readers name for the cause."""
    first = pl.col("family").is_in(pl.col("components")).fill_null(value=False)
    among = pl.col("families").list.set_intersection("components").list.len() > 0
    rows = evidence.with_columns(prediction=pl.col("answer"), repeat=pl.lit(0))
    wrong = pl.col("prediction") != pl.col("category")
    every = pl.lit(value=True)
    shares = {
        "first_evidence": (first, every, "first evidence"),
        "first_evidence_of_wrong": (first, wrong, "first evidence, the answer being wrong,"),
        "any_evidence_of_wrong": (among, wrong, "evidence, the answer being wrong, in part"),
    }
    values = tuple(
        st.proportion(
            name,
            st.over_those(rows, value, those),
            f"probability that the monitor's {what} is about the component of a new cause",
        )
        for name, (value, those, what) in shares.items()
    )
    return st.of_scenarios(rows, (), settings, values)


def eased(
    predictions: pl.DataFrame,
    scenarios: tuple[st.Scenario, ...],
    settings: st.ScenarioIntervalSettings,
) -> pl.DataFrame:
    """How often blind methods tell the causes of author B, by declared difficulty."""
    declared = pl.DataFrame(
        [(each.id, st.DIFFICULTIES.index(each.difficulty)) for each in scenarios],
        schema={"scenario": pl.String, "level": pl.Int32},
        orient="row",
    )
    ease = (pl.col("prediction") == pl.col("category")).mean().alias("ease")
    blind = predictions.filter(st.is_of_blind(), study=A_TO_B)
    told = blind.group_by("scenario", "category", "method").agg(ease)
    told = told.group_by("scenario", "category").agg(pl.col("ease").mean().round(12))
    compared = told.join(declared, on="scenario").sort("category", "scenario")
    tau = st.rank_agreement(
        compared, pl.col("level"), -pl.col("ease"), settings, "declared difficulty and errors"
    )
    of_level = {
        name: st.weighted_mean(compared, pl.col("ease"), pl.col("level") == place)
        for place, name in enumerate(st.DIFFICULTIES)
    }
    means = tuple(
        st.proportion(f"ease_{name}", values, f"mean ease of new causes declared {name}")
        for name, values in of_level.items()
    )
    rows = compared.with_columns(prediction=pl.lit(st.ABSTAIN), repeat=pl.lit(0), seed=pl.lit(0))
    found = st.of_scenarios(rows, (), settings, means)
    sizes = {f"ease_{name}": round(values.sums()[1]) for name, values in of_level.items()}
    found = found.with_columns(n=pl.col("metric").replace_strict(sizes, return_dtype=pl.Int64))
    both = [found, st.estimate_rows({"tau_declared": tau})]
    return pl.concat(both, how="vertical_relaxed").with_columns(
        method=pl.lit(BLIND), study=pl.lit(A_TO_B)
    )


def numbers(
    predictions: pl.DataFrame, evidence: pl.DataFrame, readers: pl.DataFrame
) -> dict[str, object]:
    """What captions name beside estimates and settings."""
    carried = predictions.filter(study=A_TO_B)
    wrong = evidence.filter(pl.col("answer") != pl.col("category"))
    by_kind = dict(wrong.group_by(pl.col("decided_kind").replace("", "nothing")).len().iter_rows())
    return {
        "wrong": wrong.height,
        "undecided": by_kind.get("nothing", 0),
        "by_ending": by_kind.get("ending", 0),
        "by_symptom": by_kind.get("symptom", 0),
        "n_a": predictions.filter(study=WITHIN_A)["scenario"].n_unique(),
        "n_b": carried["scenario"].n_unique(),
        "runs_b": carried["run_id"].n_unique(),
        "with_cause": readers["has_cause"].sum(),
        "without_cause": (~readers["has_cause"]).sum(),
    }


def tables(found: st.Estimates, said: st.Captions) -> Iterator[st.Table]:
    """Every method in every study; those that are not blind below a divider."""
    versions = [name for name in found.distinct("method") if name.startswith(VERSION)]
    methods = [name for name in found.distinct("method") if name not in {BLIND, *versions}]
    ordered = st.in_label_order(methods)
    body: list[st.Row | st.Divider] = [
        st.Row((st.method_label(name),), {"method": name}) for name in ordered if st.is_blind(name)
    ]
    if developed := [name for name in ordered if st.made_in_view(name)]:
        body.append(st.Divider("Rules or checks developed on author A's causes:"))
        body += [st.Row((st.method_label(name),), {"method": name}) for name in developed]
    body.append(st.Divider("Frozen versions of the rules (A: causes not developed on):"))
    body += [
        st.Row((f"Version {name.removeprefix(VERSION)}",), {"method": name})
        for name in sorted(versions)
    ]
    yield st.table("authors", found, None, body, said)


MARKS = {
    A_TO_B: st.Mark("trained on A, tested on B", st.VERMILLION, "o"),
    B_TO_A: st.Mark("trained on B, tested on A", st.BLUE, "s"),
    BOTH: st.Mark("both, by scenario", st.BLACK, "D", "none"),
}


def draw(drawn: pl.DataFrame, figure: Figure) -> None:
    """A row per method, and a mark for each way of learning from two authors."""
    methods = st.in_label_order(drawn["method"])
    developed = [name for name in methods if st.made_in_view(name)]
    rows = {name: st.drawn_label(name) for name in methods if st.is_blind(name)}
    rows |= {name: st.drawn_label(name) for name in developed}
    axes = figure.subplots()
    points = drawn.rename({"method": "row", "study": "mark"})
    st.dot_plot(axes, points, rows, MARKS, heavy_above=developed[:1])
    axes.set_xlim(0, 100)
    axes.set_xlabel("accuracy in percent of runs, with interval over n causes")
    sizes = dict(drawn.group_by("study").agg(pl.col("n").max()).iter_rows())
    named = [replace(m, label=f"{m.label}, n = {sizes[study]}") for study, m in MARKS.items()]
    st.legend_outside(figure, [*named, *st.marks_explained(methods)], columns=2, handlelength=1.0)


def main() -> None:
    design = st.read_section("authors", AuthorsDesign)
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    fitted = st.prediction_files(st.read_names("methods"))
    names = [name for name in fitted if name in st.ENTRIES and not st.reads_true_category(name)]
    asked = st.read_outputs(PREDICTIONS, [*names, st.RECORDED_MODEL], st.PREDICTION_SCHEMA)
    readers = read_readers()
    evidence = st.read_output(EVIDENCE, EVIDENCE_SCHEMA)
    versions = of_versions(st.read_output(VERSIONS, VERSION_SCHEMA))
    predictions = of_all_studies(st.read_main_study(), asked, design)
    scenarios = read_scenarios_of(predictions.filter(study=A_TO_B), SCENARIOS)
    measured = pl.concat(
        [
            estimates(predictions, versions, evidence, readers, settings, st.workers()),
            eased(predictions, scenarios, settings).select(*KEYS, *st.ESTIMATE),
        ],
        how="vertical_relaxed",
    )
    found = st.Estimates.of(measured)
    named = numbers(predictions, evidence, readers)
    said = st.Captions.read("authors", found.nested(*KEYS), settings, design, named)
    marked = pl.col("study").is_in(list(MARKS)) & ~pl.col("method").str.starts_with(VERSION)
    drawn = found.where(metric="accuracy").frame.filter(marked)
    height = 0.9 + 0.27 * drawn["method"].n_unique()
    picture = said.picture("figure", height, partial(draw, drawn))
    st.publish_estimates(
        "authors",
        measured,
        KEYS,
        tables=tables(found, said),
        figures={"authors": picture},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=measured.filter(metric="accuracy").select(*KEYS, "value", "ci_low", "ci_high", "n"),
    )


if __name__ == "__main__":
    st.run(main)
