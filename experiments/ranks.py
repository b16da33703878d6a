"""Stage ranks: whether the logs of two ranks tell which departed first, and of which category."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from failbench import study as st
from failbench.base.vocabulary import CATEGORIES
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.model import Model, read_model
from failbench.diagnose.rank_departures import (
    RankBounds,
    Ranks,
    fit_rank_bounds,
)
from failbench.diagnose.ranks import diagnose_ranks
from failbench.diagnose.readers.records import log_of_history
from failbench.monitor.bounds import read_bounds
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.ranks.recordings import SUCCESS, healthy_runs, read_runs
from shared.ranks import RankBoundsSettings, healthy_ranks

RECORDED = Path("data/ranks")
MODEL = Path("src/failbench/fitted/log.json")
BOUNDS = Path("src/failbench/fitted/bounds.json")

TOGETHER, FROZEN = "together", "together_frozen"
"""All ranks compared by bounds of all healthy runs but those of the cause, and of those alone that
were recorded before any cause was."""
FIRST, SUREST = "first_rank", "surest_rank"
"""The model of all logs, asked of the first rank's alone; of each alone, taking the surest."""

OF_RUN = ("kind", "cause", "category", "seed", "guilty_rank")
HARMLESS = (pl.col("kind") == "failure") & (pl.col("outcome") == "completed")
"""A run whose fault did it no harm, so that there is nothing to tell."""
FAILING = pl.col("kind") == "failure"
NO_RANK = -1
"""Stands for a cause that all ranks share, and for an answer that names none."""


@dataclass(frozen=True)
class Learnt:
    """What the package learnt of other runs."""

    model: Model
    bounds: Mapping[str, Bound]
    frozen: RankBounds


METRICS = {
    "rank": "probability that a run of a new cause has the rank named that departed",
    "category": "probability that a run of a new cause has its category named",
    "both": "probability that a run of a new cause has both named",
}
ALARM = "alarm"
ANSWER_SCHEMA = pl.Schema(
    {
        "method": pl.String(), "run_id": pl.String(), "kind": pl.String(), "cause": pl.String(),
        "category": pl.String(), "seed": pl.Int32(), "guilty_rank": pl.Int32(),
        "alarm": pl.Boolean(), "named_rank": pl.Int32(), "step": pl.Int32(),
        "prediction": pl.String(), "sign": pl.String(), "by_convention": pl.Boolean(),
    }
)  # fmt: skip


def answers_of(
    run: dict[str, Any], ranks: Ranks, others: RankBounds, learnt: Learnt
) -> Iterator[dict[str, Any]]:
    """What each method says of a run."""
    for method, bounds in ((TOGETHER, others), (FROZEN, learnt.frozen)):
        said = diagnose_ranks(ranks, bounds, learnt.bounds, learnt.model)
        yield run | {
            "method": method, "alarm": said.status != "none", "named_rank": said.rank,
            "step": said.step, "prediction": said.category or st.ABSTAIN,
            "sign": said.evidence[0].sign if said.evidence else None,
            "by_convention": said.is_by_convention,
        }  # fmt: skip
    alone = {
        rank: diagnosis_of(log_of_history(f"rank{rank}", each), learnt.bounds, model=learnt.model)
        for rank, each in ranks.items()
    }
    failed = {rank: said for rank, said in alone.items() if said.status == "failed"}
    surest = max(failed, key=lambda rank: failed[rank].confidence, default=min(alone))
    for method, rank in ((FIRST, min(alone)), (SUREST, surest)):
        said_alone = failed.get(rank)
        category = st.ABSTAIN if said_alone is None else said_alone.category
        yield run | {
            "method": method, "alarm": said_alone is not None, "prediction": category,
            "named_rank": None if said_alone is None else rank,
        }  # fmt: skip


def of_cause(
    runs: pl.DataFrame,
    histories: Mapping[str, Ranks],
    healthy: Mapping[str, Sequence[Ranks]],
    margins: tuple[float, ...],
    learnt: Learnt,
    cause: str,
) -> pl.DataFrame:
    """The answers to the runs of a cause and their twins, or to the successes."""
    kept = {name: ranks for name, ranks in healthy.items() if name != cause}
    others = fit_rank_bounds(kept, margins, f"all healthy runs but those of {cause}")
    rows = [
        dict.fromkeys(ANSWER_SCHEMA) | row
        for run in runs.filter(cause=cause).sort("run_id").to_dicts()
        for row in answers_of(run, histories[run["run_id"]], others, learnt)
    ]
    return pl.DataFrame(rows, ANSWER_SCHEMA)


def judged(answers: pl.DataFrame) -> pl.DataFrame:
    """With what is right: no rank is named where all share a cause, or where it is shared."""
    named, guilty = (pl.col(name).fill_null(NO_RANK) for name in ("named_rank", "guilty_rank"))
    answers = answers.with_columns(
        rank=pl.col("alarm") & (named == guilty), category_right=st.right()
    )
    return answers.with_columns(both=pl.col("rank") & pl.col("category_right"))


def estimates(answers: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """Rates over causes by method, and alarms on healthy runs."""
    parts = []
    for method in answers["method"].unique(maintain_order=True):
        of_method = answers.filter(method=method)
        failing, healthy = of_method.filter(FAILING), of_method.filter(~FAILING)
        # some categories have a single cause: causes are drawn from all of them, as one stratum
        drawn = failing.with_columns(scenario="cause", repeat=pl.lit(0)).with_columns(
            category=pl.lit(CATEGORIES[0])
        )
        values = tuple(
            st.proportion(
                name,
                st.over_scenarios(drawn, pl.col("category_right" if name == "category" else name)),
                estimand,
            )
            for name, estimand in METRICS.items()
        )
        parts.append(st.of_scenarios(drawn, (), settings, values, method=method))
        share = int(healthy["alarm"].sum()) / healthy.height
        alarms = st.wilson_row(share, healthy.height, settings.confidence)
        named = {"method": method, "metric": ALARM, "interval": "Wilson", "resampling_unit": "run"}
        parts.append(pl.DataFrame([named | alarms]))
    return pl.concat(parts, how="diagonal_relaxed")


def tables(found: st.Estimates, answers: pl.DataFrame, said: st.Captions) -> Iterator[st.Table]:
    """Rates by method; what was said of each cause."""
    labels = said.labels("methods")
    body = [st.Row((label,), {"method": method}) for method, label in labels.items()]
    yield st.table("ranks", found, None, body, said)
    texts = []
    together = answers.filter(FAILING, method=TOGETHER).sort("category", "cause", "seed")
    for _, part in together.group_by("cause", maintain_order=True):
        run = part.row(0, named=True)
        signs = part["sign"].drop_nulls().unique(maintain_order=True).to_list()
        ranks = part["guilty_rank"].unique().sort().to_list()
        guilty = " or ".join("all" if rank is None else f"{rank}" for rank in ranks)
        counts = [f"{part[name].sum()} of {part.height}" for name in ("rank", "category_right")]
        said_of = sorted(part["prediction"].unique().to_list())
        texts.append(
            (
                st.words(run["cause"]),
                st.words(run["category"]),
                guilty,
                *counts,
                "; ".join(map(st.words, signs)) or st.ABSENT,
                "; ".join(map(st.words, said_of)),
            )
        )
    yield st.sheet("ranks_causes", texts, said)


def main() -> None:
    said = st.Captions.read("ranks")
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    margins = st.read_section("rank_bounds", RankBoundsSettings).margins
    recorded = read_runs(RECORDED)
    facts = (*OF_RUN, "outcome")
    told = [{"run_id": run.run_id} | {name: run[name] for name in facts} for run in recorded]
    runs = pl.DataFrame(told, {name: ANSWER_SCHEMA.get(name, pl.String) for name in told[0]})
    harmless = runs.filter(HARMLESS).height
    runs = runs.filter(~HARMLESS).drop("outcome").with_columns(pl.col("cause").fill_null(SUCCESS))
    histories = {run.run_id: run.histories for run in recorded}
    causes = runs["cause"].unique().sort().to_list()
    bounds = read_bounds(BOUNDS, CATALOGUE).intervals()
    before = healthy_ranks()
    learnt = Learnt(read_model(MODEL), bounds, fit_rank_bounds(before, margins, "before any cause"))
    healthy = before | healthy_runs(recorded)
    asking = partial(of_cause, runs, histories, healthy, margins, learnt)
    parts = st.parallel_map(asking, [(cause,) for cause in causes], st.workers())
    answers = judged(pl.concat(parts))
    measured = estimates(answers, settings)
    found = st.Estimates.of(measured)
    counts = {
        "causes": answers.filter(FAILING)["cause"].n_unique(),
        "runs": answers.filter(FAILING)["run_id"].n_unique(),
        "healthy": answers.filter(~FAILING)["run_id"].n_unique(),
        "harmless": harmless,
        "by_convention": answers.filter(FAILING, method=TOGETHER)["by_convention"].sum(),
    }
    said = said.with_numbers(settings, found.nested("method", "metric"), counts)
    st.publish(
        "ranks",
        metrics=found.nested("method", "metric"),
        points=answers,
        tables=tables(found, answers, said),
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=measured.select("method", "metric", "value", "ci_low", "ci_high", "n"),
    )


if __name__ == "__main__":
    st.run(main)
