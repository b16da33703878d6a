"""Stage benchmark: what the benchmark consists of, and what its methods read."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, get_args

import polars as pl

from failbench import study as st
from failbench.features.catalogue import KEYWORD_FEATURES, KEYWORDS, PAPER_FEATURES
from failbench.features.feature import CEILING
from failbench.features.feature_table import read_features, to_frame
from failbench.methods import improved_tree, simple_rules
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.llm.prompt import Prompt, prompts_of
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.methods.rules import Declared, ErrorMatches
from failbench.monitor.invariants import CATALOGUE as INVARIANTS
from failbench.monitor.invariants import Invariant, Kind
from failbench.monitor.signals import SIGNALS
from failbench.study.rule_words import in_words, short, threshold_words
from recordings import read_recordings
from shared import benchmark_drawing as drawing
from shared.benchmark_drawing import Node, Workflow
from shared.benchmark_twin import SIGNAL_LABELS, BenchmarkSettings, draw_twin, twin_of

RUNS = Path("data/telemetry/runs.parquet")
DIFFICULTY = Path("data/measurements/difficulty/scenarios.parquet")
INTERVALS = Path("data/metrics/intervals.json")
DECLARED = Path("paper/captions/benchmark")
"""What tables say and no code does."""

SETTING = tuple(st.RunSetting.model_fields)
"""What makes runs comparable."""

DIFFICULTY_SCHEMA = pl.Schema({"scenario": pl.String, "measured": pl.String})

FACETS: dict[str, tuple[str, Sequence[str]]] = {
    "outcome": ("Measured outcome", get_args(st.Outcome)),
    "onset": ("Onset", get_args(st.OnsetKind)),
    "declared": ("Declared difficulty", st.DIFFICULTIES),
    "measured": ("Measured difficulty", st.DIFFICULTIES),
}
"""What scenarios are counted by: heading, and values in order."""

KINDS: tuple[Kind, ...] = ("logic", "statistic", "symptom")


def described(
    runs: pl.DataFrame,
    scenarios: Sequence[st.Scenario],
    difficulty: pl.DataFrame,
    in_reference: pl.Expr,
) -> pl.DataFrame:
    """A row per scenario: what is declared of it, and what was recorded in all settings."""
    lag = pl.col("failure_step") - pl.col("onset_step")
    recorded = (
        runs.filter(kind="failure")
        .group_by("scenario")
        .agg(
            pl.len().alias("runs"),
            pl.col("outcome").mode().sort().first(),
            pl.col("outcome").n_unique().alias("outcomes"),
            lag.median().alias("steps"),
            lag.filter(in_reference).median().alias("reference_steps"),
        )
    )
    declared = pl.DataFrame(
        {
            "scenario": scenario.id,
            "title": scenario.title,
            "category": scenario.category,
            "declared": scenario.difficulty,
            "onset": scenario.fault.onset,
            "expected": scenario.expected_outcome,
            "remedy": scenario.remedy,
        }
        for scenario in scenarios
    )
    for place, found in ((RUNS, recorded), (DIFFICULTY, difficulty)):
        for name in declared.join(found, on="scenario", how="anti")["scenario"]:
            remedy = f"Run `failbench record --only {name}`, then `dvc repro`."
            raise st.BadInputError(place, "scenario", f"there is nothing of {name!r}.", remedy)
        declared = declared.join(found, on="scenario", maintain_order="left")
    return declared


def scale_of(runs: pl.DataFrame) -> dict[str, Any]:
    """How much was recorded: runs by kind, settings, and seeds of a scenario in one setting."""
    seeds = runs.filter(kind="failure").group_by("scenario", *SETTING).agg(pl.n_unique("seed"))
    return {
        "runs": {**dict(runs.group_by("kind").len().iter_rows()), "all": runs.height},
        "settings": runs.select(SETTING).n_unique(),
        "architectures": runs["architecture"].n_unique(),
        "optimizers": runs["optimizer"].n_unique(),
        "seeds": seeds["seed"].max(),
    }


def metrics_of(scenarios: pl.DataFrame) -> dict[str, Any]:
    """How many there are of everything that is declared."""
    by_category = {category: scenarios.filter(category=category) for category in st.CATEGORIES}
    return {
        "scenarios": {
            "all": scenarios.height,
            "with_several_outcomes": scenarios.filter(pl.col("outcomes") > 1).height,
            "by": {
                facet: {
                    value: {name: Counter(part[facet])[value] for name, part in by_category.items()}
                    for value in values
                }
                for facet, (_, values) in FACETS.items()
            },
        },
        "features": len(PAPER_FEATURES),
        "keywords": len(KEYWORD_FEATURES),
        "signals": len(SIGNALS),
        "invariants": {
            "all": len(INVARIANTS),
            "fitted": sum(each.bound is None for each in INVARIANTS),
            "families": len(families()),
            "kinds": {kind: sum(each.kind == kind for each in INVARIANTS) for kind in KINDS},
        },
        "simple_rules": len(simple_rules.SIMPLE_RULES),
        "improved_rules": {
            "nodes": len(improved_tree.TREE.nodes),
            "refinements": len(improved_tree.TREE.refinements),
            "leaves": len(improved_tree.TREE.leaves),
        },
        "methods": {
            "all": len(st.CATALOGUE),
            "made_in_view": sum(entry.made_in_view for entry in st.CATALOGUE),
            "told_the_true_category": sum(entry.reads_true_category for entry in st.CATALOGUE),
        },
        "checklist": len(declarations("reproduction_checklist", 4)) - 1,
    }


def families() -> dict[str, list[Invariant]]:
    """The invariants by family, in the order in which the catalogue first names these."""
    names = dict.fromkeys(invariant.family for invariant in INVARIANTS)
    return {name: [each for each in INVARIANTS if each.family == name] for name in names}


def declarations(name: str, width: int) -> list[list[str]]:
    """A file that is kept by hand: its header of so many columns, and rows without a gap."""
    path = DECLARED / f"{name}.csv"
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, ValueError, csv.Error) as error:
        raise st.BadInputError(path, "(file)", "cannot be read.", "Restore it with git.") from error
    if len(rows) < 2:
        raise st.BadInputError(path, "(rows)", "there are none.", "Restore it with git.")
    for number, row in enumerate(rows):
        if not all(row) or len(row) != width:
            problem = f"has not {width} cells with something in them."
            raise st.BadInputError(path, f"row {number}", problem, "Write what is missing.")
    return rows


def scenario_tables(scenarios: pl.DataFrame, said: st.Captions, scale: str) -> Iterator[st.Table]:
    """The summary by category, and all scenarios."""
    parts = [*(scenarios.filter(category=category) for category in st.CATEGORIES), scenarios]
    body = [
        ("Scenarios", *(str(part.height) for part in parts)),
        ("Failing runs", *(f"{part['runs'].sum():,}" for part in parts)),
        ("Steps to failure", *(f"{median(part['steps']):g}" for part in parts)),
    ]
    for facet, (heading, values) in FACETS.items():
        body.append((heading, *[""] * len(parts)))
        body += [(st.words(v), *(str(Counter(part[facet])[v]) for part in parts)) for v in values]
    yield st.sheet("scenarios_summary", body, said, scale)
    rows = []
    for row in scenarios.iter_rows(named=True):
        ended = "" if row["outcome"] == row["expected"] else f" ({row['outcome']})"
        steps = None if row["onset"] == "start_crash" else row["reference_steps"]
        rows.append(
            (
                *(st.words(row["scenario"]), row["title"], st.words(row["category"])),
                *(f"{row['declared']}, {row['measured']}", st.words(row["onset"])),
                *(row["expected"] + ended, row["remedy"]),
                st.ABSENT if steps is None else f"{steps:g}",
            )
        )
    yield st.sheet("scenarios", rows, said)


def bound_words(invariant: Invariant) -> str:
    """What a compared value must be, as the table says it."""
    bound, relation = invariant.bound, invariant.relation
    if bound is None:
        return f"{relation}: fitted"
    match relation:
        case "at most" | "within":
            return f"{relation} {bound.high:g}"
        case "at least":
            return f"at least {bound.low:g}"
        case "between":
            return f"between {bound.low:g} and {bound.high:g}"


CITED = ("the paper", "the original")
"""What data call the original, on which fits depend, and what tables do."""


def cited(source: str) -> str:
    """A source or a definition as tables print it."""
    return source.replace(*CITED)


def signal_tables(said: st.Captions) -> Iterator[st.Table]:
    """What methods read: features, keywords of error text, and invariants."""
    features: list[tuple[str, ...]] = [
        (
            st.words(each.name),
            st.words(each.group),
            each.unit,
            *map(cited, (each.formula, each.source)),
        )
        for each in PAPER_FEATURES
    ]
    yield st.sheet("features", features, said)
    keywords = [(st.words(each.name), each.pattern, cited(each.source)) for each in KEYWORDS]
    yield st.sheet("keywords", keywords, said)
    rows = []
    for name, group in families().items():
        of_kinds = (sum(each.kind == kind for each in group) for kind in KINDS)
        bound = sum(each.bound is not None for each in group)
        counted = Counter(each.component for each in group).items()
        ranked = sorted(counted, key=lambda pair: (-pair[1], pair[0]))
        components = ", ".join(f"{st.words(each)} ({count})" for each, count in ranked)
        sizes = map(str, (len(group), *of_kinds, bound, len(group) - bound))
        rows.append((name, *sizes, components))
    yield st.sheet("invariants_families", rows, said)
    against = said.labels("invariants")
    rows = [
        (
            *(each.family, st.words(each.id), each.statement, st.words(each.signal)),
            *(against[each.against], bound_words(each), each.kind, st.words(each.component)),
        )
        for group in families().values()
        for each in group
    ]
    yield st.sheet("invariants", rows, said)


def signals_of_tree() -> list[Declared]:
    """What the nodes of the improved rules ask for: error text first, then by name."""
    asked = dict.fromkeys(improved_tree.TREE.conditions())
    return sorted(asked, key=lambda each: (not isinstance(each, ErrorMatches), short(each)))


def rule_tables(
    tree: pl.DataFrame,
    band: HealthyBand,
    simple: st.SimpleRulesSettings,
    improved: st.ImprovedRulesSettings,
    said: st.Captions,
) -> Iterator[st.Table]:
    """The simple rules in order, the nodes of the improved ones, and the signals of these."""
    limits = {"gradient_norm": simple.gradient_norm, "perplexity": simple.perplexity}
    rows = []
    for number, rule in enumerate(simple_rules.SIMPLE_RULES, start=1):
        asked = rule.conditions
        held = (threshold_words(each, band, simple.healthy_sds, limits) for each in asked)
        named = (str(number), st.words(rule.name), st.words(rule.category))
        words = (" and ".join(map(in_words, asked)), "; ".join(held))
        rows.append((*named, *words, cited(rule.source)))
    yield st.sheet("simple_rules", rows, said)
    answered = tree.drop("depth").with_columns(
        pl.col("answer").replace(st.SHORT_LABELS),
        source=pl.col("source").str.replace_all(*CITED, literal=True),
    )
    yield st.sheet("improved_rules", answered.rows(), said)
    limits = improved.model_dump(include={"catastrophic_perplexity", "gradient_norm"})
    signals = [
        (short(each), in_words(each), threshold_words(each, band, improved.healthy_sds, limits))
        for each in signals_of_tree()
    ]
    yield st.sheet("improved_signals", signals, said)


TRANSCRIBED = {
    "transfer": (0.16, 0.11, 0.13, 0.13, 0.11, 0.11, 0.25),
    "transfer_data": (0.4, 0.6),
    "transfer_signals": (0.2, 0.4, 0.4),
    "reproduction_checklist": (0.09, 0.22, 0.29, 0.4),
}
"""Tables that are declared as they stand, and widths of their columns."""


DEVELOPED = {"*": " (rules in-sample)", "‡": " (checks developed in-sample)"}


def method_tables(
    conditions: Mapping[str, Mapping[str, Any]], said: st.Captions
) -> Iterator[st.Table]:
    """What methods read, transfer to other architectures, and the checklist."""
    checks = {name: st.estimate_text(each, "one") for name, each in conditions.items()}
    facts = {method: texts for method, *texts in declarations("methods", 4)}
    rows = []
    for entry in st.CATALOGUE:
        reads = st.reads_label(entry.name) + DEVELOPED.get(st.mark_of(entry.name), "")
        known = facts.get(entry.name, [st.ABSENT] * 3)  # a method that was just added has none
        rows.append((entry.label, entry.family, reads, *known, checks.get(entry.name, st.ABSENT)))
    yield st.sheet("methods_read", rows, said, st.DEVELOPMENT_NOTE)
    for name, widths in TRANSCRIBED.items():
        headings, *body = declarations(name, len(widths))
        heads = zip(headings, widths, strict=True)
        columns = [st.Text(heading, width=width) for heading, width in heads]
        yield st.sheet(name, map(tuple, body), said, columns=columns)


LONGEST = 72
"""Letters of a printed line without spaces; longer ones are broken after commas."""

BROKEN = re.compile(rf".{{1,{LONGEST}}}(?:(?<=,)|$)|[^,]+,?")


def prompt_table(prompt: Prompt, said: st.Captions) -> st.Table:
    """The two messages that a language model gets, a row a line."""
    rows: list[tuple[str, str]] = []
    for message, text in (("system", prompt.system), ("user", prompt.user)):
        lines = [
            part
            for line in text.splitlines()
            for part in ([line] if " " in line or not line else BROKEN.findall(line))
        ]
        rows += zip([message, *[""] * (len(lines) - 1)], lines, strict=True)
    return st.sheet("prompt", rows, said)


def main() -> None:
    settings = st.read_with_statistics("benchmark", BenchmarkSettings)
    study = st.read_section("nested_cv", st.ReferenceStudy)
    simple = st.read_section("simple_rules", st.SimpleRulesSettings)
    improved = st.read_section("improved_rules", st.ImprovedRulesSettings)
    llm = st.read_section("llm_agents", LlmAgentsSettings)
    difficulty = st.read_output(DIFFICULTY, DIFFICULTY_SCHEMA)
    estimates = st.read_metrics(INTERVALS, st.PRIMARY_SET)[st.PRIMARY_SET]
    successes = study.successes(read_features())
    telemetry, declared = read_recordings()
    workflow = st.read_facts(DECLARED / "workflow.json", Workflow)

    scenarios = described(telemetry.runs, declared, difficulty, study.runs)
    scale, ranges = scale_of(telemetry.runs), st.spans(telemetry.runs)
    twin, points = twin_of(telemetry, declared, study.runs, settings)
    asked = sorted({*simple_rules.band_features(), *improved_tree.band_features()})
    band = healthy_band(to_frame(successes), asked)
    shown = llm.model_copy(update={"steps": settings.prompt_steps})
    prompt = prompts_of(telemetry, [twin["run_id"]], shown)[twin["run_id"]]
    needed = "conditions_to_read"
    conditions = {name: each[needed] for name, each in estimates.items() if needed in each}
    of_tree = drawing.nodes()
    tree = pl.DataFrame(of_tree, orient="row", schema=Node._fields)
    beside = {"healthy_runs": successes.height, "twin": twin}
    metrics = {**metrics_of(scenarios), **scale, **ranges, **beside}
    counts = {**metrics, "categories": len(st.CATEGORIES), "step_columns": len(st.STEP_SCHEMA) - 2}
    placed = drawing.places(workflow, counts)
    numbers = {
        "recorded": {kind: f"{count:,}" for kind, count in scale["runs"].items()},
        "declared": st.DECLARED_NOTE,
        "ceiling": f"{CEILING:,.0f}",
        "fallback": st.words(simple_rules.FALLBACK),
        "healthy_sds": {"simple": simple.healthy_sds, "improved": improved.healthy_sds},
        "signals_of_tree": len(signals_of_tree()),
        "sizes": " or ".join(map(str, sorted({int(each["n"]) for each in conditions.values()}))),
        "outcome": st.words(settings.twin.outcome),
        "late": st.counted(twin["steps_to_failure"], "step"),
        "signal": SIGNAL_LABELS[twin["signal"]].split(" (")[0].lower(),
        "abstaining": sum(each.answer.startswith("abstains") for each in of_tree),
    }
    draw_workflow = partial(drawing.draw_workflow, workflow, placed)
    pictures = {
        "twin": (1.85, partial(draw_twin, twin, points)),
        "workflow": (drawing.height_of(placed), draw_workflow),
        "improved_rules_tree": (drawing.PAGE, partial(drawing.draw_tree, of_tree)),
    }
    said = st.Captions.read("benchmark", settings, study, improved, llm, metrics, numbers)
    st.publish(
        "benchmark",
        metrics=metrics,
        points={
            "twin": points,
            "improved_rules_tree": tree.with_row_index("row").drop("against", "source"),
            "workflow": drawing.workflow_points(workflow, placed),
        },
        tables=(
            *scenario_tables(scenarios, said, st.scale_note(telemetry.runs.height, ranges)),
            *signal_tables(said),
            *rule_tables(tree, band, simple, improved, said),
            *method_tables(conditions, said),
            prompt_table(prompt, said),
        ),
        figures={name: said.picture(name, *of) for name, of in pictures.items()},
        summary=scenarios.group_by("category", maintain_order=True).agg(pl.len(), pl.sum("runs")),
        exact=True,
    )


if __name__ == "__main__":
    st.run(main)
