"""Stage difficulty: how hard each scenario is to tell, against what was declared."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from failbench import study as st
from shared.difficulty import DIFFICULTY_SCHEMA, SHARE_SCHEMA, DifficultyDesign

SCENARIOS = Path("data/measurements/difficulty/scenarios.parquet")
SHARES = Path("data/measurements/difficulty/shares.parquet")

KEYS = ("part", "metric")
LEVELS = len(st.DIFFICULTIES)
MISLEADING = ("surface", "neighbours")
PANELS: tuple[tuple[st.Category, ...], ...] = (
    ("memory_hardware", "data_pipeline"),
    ("optimization", "model_software", "unknown"),
)
"""Half of the 76 scenarios each."""

ROW_HEIGHT, HEAD = 0.125, 1.65
"""Inches per scenario, and for the names of methods and the bar of colours."""

GAP = 0.7
"""Rows between categories."""


def estimates(
    scenarios: pl.DataFrame,
    shares: pl.DataFrame,
    settings: st.ScenarioIntervalSettings,
    reference: str,
) -> pl.DataFrame:
    """Measured difficulty against the declared, and the reference architecture against others."""
    compared = scenarios.join(reference_and_others(shares, reference), on="scenario")
    compared = compared.sort("category", "scenario")
    parts = {
        str(name): part for name in st.CATEGORIES if (part := compared.filter(category=name)).height
    }
    seeds = st.single_seeds(map(len, parts.values()))
    # all methods taken as one, whose answer to a scenario is spread over their answers
    spread = {name: part.select(st.ANSWERS).to_numpy()[:, None, :] for name, part in parts.items()}
    recalls = [
        metric for metric in st.metrics_for(st.CATEGORIES) if metric.name.startswith("recall_")
    ]
    means = [
        replace(st.METRICS["accuracy"], name="ease/all"),
        *(replace(recall, name=f"ease/{recall.category}") for recall in recalls),
    ]
    # pairs of the declared and the measured level
    pairs = level("declared") * LEVELS + level("measured")
    rated = {
        name: np.eye(LEVELS**2)[part.select(pairs).to_series()].reshape(-1, LEVELS, LEVELS)
        for name, part in parts.items()
    }
    kappa = st.ValueMetric(
        "agreement/kappa",
        st.ScenarioValues(rated, seeds),
        "quadratically weighted",
        st.weighted_kappa,
    )
    rates = proportions(compared)
    # a share of some of the scenarios is about those alone
    sizes = {rate.name: round(rate.values.sums()[1]) for rate in rates}
    intervals = st.scenario_intervals(
        st.ScenarioAnswers(spread, seeds), tuple(means), settings, (*rates, kappa)
    )
    n = pl.col("metric").replace_strict(sizes, default=pl.col("n"))
    rows = st.by_path(st.estimate_rows(intervals).with_columns(n=n), "part")
    ease, own = pl.col("ease"), pl.col("neighbours_own")
    ranked = {
        "tau_declared": (level("declared"), -ease),
        "tau_neighbours": (own, ease),
        "tau_architectures": (pl.col("reference"), pl.col("others")),
    }
    taus = {
        name: st.rank_agreement(compared, *pair, settings, name) for name, pair in ranked.items()
    }
    return pl.concat([rows, st.estimate_rows(taus, part="agreement")], how="diagonal")


def reference_and_others(shares: pl.DataFrame, reference: str) -> pl.DataFrame:
    """Shares of right answers to a scenario in the reference architecture, and in the others."""
    here, ease = pl.col("name") == reference, pl.col("ease")
    by_scenario = shares.filter(view="architecture").group_by("scenario")
    found = by_scenario.agg(reference=ease.filter(here).mean(), others=ease.filter(~here).mean())
    for column, what in (("reference", reference), ("others", f"any but {reference}")):
        if found[column].is_null().all():
            problem = f"there is no prediction of {what}."
            remedy = "Record other architectures, and run `dvc repro` for the study of all."
            raise st.BadInputError("predictions", "architecture", problem, remedy)
    return found


def proportions(scenarios: pl.DataFrame) -> tuple[st.ValueMetric, ...]:
    ease, declared, measured = pl.col("ease"), pl.col("declared"), pl.col("measured")
    every, hard = pl.lit(1.0), measured == "hard"
    rates = {
        **{f"ease/declared_{each}": (ease, declared == each) for each in st.DIFFICULTIES},
        **{f"share/{each}": (measured == each, every) for each in st.DIFFICULTIES},
        **{f"hard_taken_for/{each}": (pl.col(f"by_{each}"), hard) for each in MISLEADING},
    }
    estimand = "mean over new scenarios of a kind"
    return tuple(
        st.proportion(name, st.weighted_mean(scenarios, value, those), estimand)
        for name, (value, those) in rates.items()
    )


def level(column: str) -> pl.Expr:
    return pl.col(column).replace_strict(
        list(st.DIFFICULTIES), range(LEVELS), return_dtype=pl.Int32
    )


def points_of(scenarios: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """Shares of right answers: a row per scenario and method, architecture, or all of them."""
    levels = scenarios.select("scenario", "declared", "measured")
    whole = scenarios.with_columns(view=pl.lit("all"), name=pl.lit("all"))
    both = pl.concat([whole, shares.join(levels, on="scenario")], how="diagonal")
    columns = ("category", "scenario", "declared", "measured", "view", "name", "ease")
    return both.select(columns).sort("view", "name", "category", "ease", "scenario")


def numbers(
    scenarios: pl.DataFrame, shares: pl.DataFrame, design: DifficultyDesign, paper: st.Reported
) -> dict[str, object]:
    by_method = shares.filter(view="method")
    easy = by_method.join(scenarios.filter(declared="easy"), on="scenario", how="semi")
    rates = easy.group_by("name").agg(pl.col("ease").mean()).sort(-pl.col("ease"), "name").rows()
    reported = max(row.accuracy for row in paper.tables.methods.rows.values())
    best = [f"{st.label_inside(name)} {st.percent(rate)} %" for name, rate in rates[:2]]
    return {
        "scenarios": scenarios.height,
        "hardest": min(design.hardest, scenarios.height),
        "below_10": scenarios.filter(pl.col("ease") < 0.1).height,
        "above_90": scenarios.filter(pl.col("ease") > 0.9).height,
        "methods": by_method["name"].n_unique(),
        "runs": scenarios["runs"].max(),
        "left_out": "; ".join(map(st.label_inside, design.left_out)),
        "best_on_easy": " and ".join(best),
        "best_reported": reported,
        "best_reached": rates[0][1] >= reported,
        "declared_when": st.DECLARED_NOTE,
    }


def tables(
    found: st.Estimates, scenarios: pl.DataFrame, design: DifficultyDesign, said: st.Captions
) -> Iterator[st.Table]:
    """Declared against measured levels, the hardest scenarios, and why they are."""
    both = pl.concat([scenarios, scenarios.with_columns(declared=pl.lit("all"))])
    counts = both.group_by(part="declared", metric="measured").agg(value=pl.len().cast(pl.Float64))
    body = [
        st.Row((each,), {"part": each, "metric": f"declared_{each}"}) for each in st.DIFFICULTIES
    ]
    body.append(st.Row(("all",), {"part": "all", "metric": "all"}))
    yield st.table("difficulty", found.plus(*counts.to_dicts()), None, body, said)

    named = ("scenario", "category", "instead", "symptom_category", "nearest", "nearest_category")

    def runs(share: float) -> str:
        return f"{share * design.neighbours:.0f} of {design.neighbours}"

    misled = [pl.when(f"by_{by}").then(pl.lit(by)) for by in MISLEADING]
    hardest = scenarios.head(design.hardest).with_columns(
        pl.col(named).str.replace_all("_", " "),
        pl.col("ease", "instead_share").map_elements(st.percent, return_dtype=pl.String),
        pl.col("neighbours_own", "neighbours_instead").map_elements(runs, return_dtype=pl.String),
        misled=pl.concat_str(misled, separator=" and ", ignore_nulls=True).replace("", st.ABSENT),
    )
    rows = hardest.select(
        *("scenario", "category", "declared", "ease", "instead", "instead_share"),
        *("symptom_category", "neighbours_own", "neighbours_instead", "misled"),
    )
    yield st.sheet("hardest", rows.rows(), said)
    look_alike = pl.format("{} ({})", "nearest", "nearest_category")
    reasons = hardest.select("scenario", look_alike, "rationale").rows()
    yield st.sheet("hardest_reasons", reasons, said)


DOTS = {level: "•" * place for place, level in enumerate(st.DIFFICULTIES, 1)}
"""How a declared difficulty stands behind the name of a scenario."""


def draw(points: pl.DataFrame, rows: float, figure: Figure) -> None:
    """Shares of right answers, a column a method, the hardest of a category first."""
    methods = st.in_label_order(points.filter(view="method")["name"])
    labels = [st.method_label(method) for method in methods]
    for axes, panel in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        image = draw_panel(axes, points, panel, methods)
        axes.set_xticks(range(len(labels)), labels, rotation=90, ha="center")
        axes.xaxis.tick_top()
        axes.set_xlim(-0.5, len(labels) - 0.5)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.tick_params(length=0, pad=1.5)
        axes.spines[:].set_visible(False)
    bar = figure.colorbar(
        image, ax=figure.axes, orientation="horizontal", fraction=0.02, aspect=60, pad=0.01
    )
    bar.set_label(
        "share of right answers (white: not recorded)\n"
        f"declared difficulty: {DOTS['easy']} easy, {DOTS['medium']} medium, {DOTS['hard']} hard"
    )
    bar.ax.tick_params(length=2)
    bar.outline.set_visible(False)


def draw_panel(
    axes: Axes, points: pl.DataFrame, panel: tuple[st.Category, ...], methods: list[str]
) -> AxesImage:
    wide = points.filter(view="method").pivot("name", index="scenario", values="ease")
    top, right, ticks, labels = 0.0, len(methods) - 0.5, [], []
    for category in panel:
        whole = points.filter(category=category, view="all").sort("ease", "scenario")
        shares = whole.select("scenario").join(wide, "scenario", "left", maintain_order="left")
        bottom = top + whole.height
        image = axes.imshow(
            shares.select(methods).to_numpy().astype(np.float64),
            cmap="cividis",  # evenly lighter for all eyes (Nunez, Anderton and Renslow, 2018)
            vmin=0,
            vmax=1,
            aspect="auto",
            interpolation="nearest",
            extent=(-0.5, right, bottom - 0.5, top - 0.5),
        )
        ticks += [top + row for row in range(whole.height)]
        labels += [
            f"{st.words(name)} {DOTS[declared]}"
            for name, declared in whole.select("scenario", "declared").rows()
        ]
        middle = (top + bottom - 1) / 2
        axes.text(right + 0.25, middle, st.words(category), rotation=270, va="center", ha="left")
        (line,) = axes.plot([right + 0.1] * 2, [top - 0.4, bottom - 0.6], linewidth=1.6)
        line.set(color=st.CATEGORY_COLOURS[category], clip_on=False)
        top = bottom + GAP
    axes.set_yticks(ticks, labels)
    return image


def main() -> None:
    scenarios = st.read_output(SCENARIOS, DIFFICULTY_SCHEMA)
    shares = st.read_output(SHARES, SHARE_SCHEMA)
    design = st.read_section("difficulty", DifficultyDesign)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    reference = st.read_section("nested_cv", st.ReferenceStudy).architecture
    measured = estimates(scenarios, shares, intervals, reference)
    found = st.Estimates.of(measured)
    beside = numbers(scenarios, shares, design, st.read_reported())
    said = st.Captions.read("difficulty", found.nested(*KEYS), design, intervals, beside)
    points = st.rounded(points_of(scenarios, shares))
    rows = max(
        scenarios.filter(pl.col("category").is_in(panel)).height + GAP * (len(panel) - 1)
        for panel in PANELS
    )
    picture = said.picture("figure", HEAD + ROW_HEIGHT * rows, partial(draw, points, rows))
    st.publish_estimates(
        "difficulty",
        measured,
        KEYS,
        points=points,
        tables=tables(found, scenarios, design, said),
        figures={"difficulty": picture},
        summary=scenarios.head(design.hardest).select("scenario", "declared", "ease", "instead"),
    )


if __name__ == "__main__":
    st.run(main)
