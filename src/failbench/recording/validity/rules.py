"""The rules over many runs: those of any recordings, and those over the whole benchmark."""

# A scenario fails early if any seed does, and slowly if the median of its seeds does, as a rule on
# all seeds would become stricter with their number.

import math
from collections import Counter
from dataclasses import dataclass, field

import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.slices import partners
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES, DIFFICULTIES
from failbench.recording.plan import RecordParams

EARLY_BEFORE = 110
MOST_EARLY = 25
SLOW_FROM = 100
FEWEST_SLOW = 25
FEWEST_CATEGORIES = 4  # of design rule 4: early and slow failures over several categories

HARD_SHARE = 1 / 3
HEALTHY_PERPLEXITY = 200.0
FEWEST_PARTNERS = 2


@dataclass(frozen=True)
class RuleResult:
    """Whether a rule holds, as one sentence with its counts."""

    name: str
    holds: bool
    sentence: str
    counts: dict[str, float]
    details: tuple[str, ...] = field(default=())


def check_rules(
    scenarios: tuple[Scenario, ...],
    telemetry: Telemetry,
    record: RecordParams,
    *,
    benchmark: bool = True,
) -> tuple[RuleResult, ...]:
    """Evaluate the rules on the failing runs of one setting."""
    categories = pl.DataFrame(
        [(each.id, each.category, each.fault.onset, each.ambiguity) for each in scenarios],
        dict.fromkeys(("scenario", "category", "onset_kind", "ambiguity"), pl.String),
        orient="row",
    )
    failing = telemetry.runs.filter(pl.col("kind") == "failure").join(categories, on="scenario")
    of_runs = (_healthy_learning(telemetry, record), _onset_kinds(failing, record))
    if not benchmark:
        return of_runs
    return (
        *of_runs,
        _early(failing),
        _slow(failing),
        _difficulty(scenarios),
        _shared_symptoms(failing, "outcome"),
        _shared_symptoms(failing, "exit_signal"),
        _partners(failing),
    )


def _healthy_learning(telemetry: Telemetry, record: RecordParams) -> RuleResult:
    earliest = record.nominal.onset_step[0]
    healthy = telemetry.runs.filter(pl.col("kind") == "success")
    steps = telemetry.steps.join(healthy.select("run_id"), on="run_id", how="semi")
    known = steps.filter(pl.col("step") <= earliest).drop_nulls("validation_loss")
    losses = known.group_by("run_id").agg(pl.col("validation_loss").last())
    median = math.exp(float(losses.select(pl.col("validation_loss").median()).item() or math.inf))
    return RuleResult(
        "healthy_perplexity",
        median < HEALTHY_PERPLEXITY,
        f"healthy runs have a median perplexity of {median:.0f} at the earliest onset, step "
        f"{earliest} (under {HEALTHY_PERPLEXITY:.0f})",
        {"median_perplexity": round(median, 3), "step": earliest},
    )


def _onset_kinds(failing: pl.DataFrame, record: RecordParams) -> RuleResult:
    low, high = record.nominal.onset_step
    mid = failing.filter(pl.col("onset_kind") == "mid_run")["onset_step"]
    kinds = _scenarios(failing).group_by("onset_kind").len().sort("onset_kind").rows()
    counts = {str(kind): float(count) for kind, count in kinds}
    holds = bool(mid.is_between(low, high).all())
    listed = ", ".join(f"{count:.0f} {kind}" for kind, count in counts.items())
    return RuleResult(
        "onset_kinds",
        holds,
        f"onset kinds are {listed}; every mid-run onset lies in [{low}, {high}]",
        counts,
    )


def _early(failing: pl.DataFrame) -> RuleResult:
    early = _scenarios(failing.filter(pl.col("failure_step") < EARLY_BEFORE))
    by_category = _by_category(early)
    sizes = _by_category(_scenarios(failing))
    total = early.height
    holds = (
        total <= MOST_EARLY
        and len(by_category) >= FEWEST_CATEGORIES
        and all(2 * count <= min(sizes[name], total) for name, count in by_category.items())
    )
    return RuleResult(
        "early_failures",
        holds,
        f"{total} scenarios fail before step {EARLY_BEFORE} (at most {MOST_EARLY}, over at least "
        f"{FEWEST_CATEGORIES} categories, no category with above half of them or half of its own "
        "there)",
        {"scenarios": total, **by_category},
        (_listed(by_category),),
    )


def _slow(failing: pl.DataFrame) -> RuleResult:
    delay = (pl.col("failure_step") - pl.col("onset_step")).median()
    slow = (
        failing.group_by("scenario", "category")
        .agg(delay=delay)
        .filter(pl.col("delay") >= SLOW_FROM)
    )
    by_category = _by_category(slow)
    return RuleResult(
        "slow_failures",
        slow.height >= FEWEST_SLOW and len(by_category) >= FEWEST_CATEGORIES,
        f"{slow.height} scenarios take {SLOW_FROM} steps or more from onset to failure (at least "
        f"{FEWEST_SLOW}, over at least {FEWEST_CATEGORIES} categories)",
        {"scenarios": slow.height, **by_category},
        (_listed(by_category),),
    )


def _difficulty(scenarios: tuple[Scenario, ...]) -> RuleResult:
    hard = sum(scenario.difficulty == "hard" for scenario in scenarios)
    counts = Counter((scenario.category, scenario.difficulty) for scenario in scenarios)
    levels = {name: {level: counts[name, level] for level in DIFFICULTIES} for name in CATEGORIES}
    return RuleResult(
        "hard_scenarios",
        hard >= HARD_SHARE * len(scenarios) and all(all(each.values()) for each in levels.values()),
        f"{hard} of {len(scenarios)} scenarios are hard (at least a third), and each category has "
        "easy, medium and hard ones",
        {"hard": hard, "share": round(hard / max(1, len(scenarios)), 4)},
        tuple(
            f"{category}: " + ", ".join(f"{count} {level}" for level, count in each.items())
            for category, each in levels.items()
        ),
    )


def _shared_symptoms(failing: pl.DataFrame, column: str) -> RuleResult:
    """Whether each value of a column (outcome, exit signal) occurs in several categories."""
    known = failing.drop_nulls(column).select(column, "scenario", "category").unique()
    by_value = known.sort(column).partition_by(column, as_dict=True, maintain_order=True)
    counts = {value: _by_category(part) for (value,), part in by_value.items()}
    unshared = sum(len(categories) < 2 for categories in counts.values())
    name = column.replace("_", " ")
    return RuleResult(
        f"{column}s_shared",
        unshared == 0,
        f"each {name} occurs in at least two categories",
        {"values": len(counts), "in_one_category": unshared},
        tuple(f"{value}: {_listed(categories)}" for value, categories in counts.items()),
    )


def _partners(failing: pl.DataFrame) -> RuleResult:
    """Labelled scenarios that look like an unknown one in outcome, error text and exit signal."""
    pairs = partners(failing)
    details, short = [], 0
    unknown = failing.filter(pl.col("category") == "unknown").select("scenario", "ambiguity")
    for scenario, ambiguity in unknown.unique().sort("scenario").rows():
        rows = pairs.filter(scenario=scenario).select("partner", "partner_category").rows()
        short += len({category for _, category in rows}) < FEWEST_PARTNERS
        names = ", ".join(f"{name} ({category})" for name, category in rows)
        details.append(f"{scenario} ({ambiguity}): {names or 'none'}")
    return RuleResult(
        "unknown_partners",
        short == 0,
        f"each unknown scenario has at least {FEWEST_PARTNERS} partners from "
        f"{FEWEST_PARTNERS} other categories",
        {"unknown_scenarios": len(details), "without_enough_partners": short},
        tuple(details),
    )


def _scenarios(frame: pl.DataFrame) -> pl.DataFrame:
    columns = [name for name in ("scenario", "category", "onset_kind") if name in frame.columns]
    return frame.select(columns).unique()


def _by_category(frame: pl.DataFrame) -> dict[str, float]:
    counts = frame.group_by("category").len().sort("category").rows()
    return {str(category): float(count) for category, count in counts}


def _listed(counts: dict[str, float]) -> str:
    return ", ".join(f"{category} {count:.0f}" for category, count in counts.items()) or "none"
