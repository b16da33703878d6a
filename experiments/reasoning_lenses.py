"""Stage reasoning_lenses: what four lenses on traces of reasoning tell of how models were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.neighbours.lenses.catalogue import LENSES, Lens, measure_kinds
from failbench.neighbours.lenses.drawing import (
    curves_of,
    draw_curves,
    marks_of,
    name_axes,
    outcome_handles,
)
from failbench.neighbours.lenses.expected import Expected, read_expected, verdicts_given
from failbench.neighbours.lenses.looking import View, look_at_models, measure_table, verdict_table
from failbench.neighbours.lenses.naming import (
    PRIMARY,
    Origins,
    classifiers,
    named,
    told_apart,
    vectors,
)
from failbench.neighbours.lenses.slices import ResamplingSettings
from failbench.reasoning.traces import read_traces
from failbench.statistics.intervals import ESTIMATE, nest, wilson
from failbench.statistics.settings import read_with_statistics
from failbench.study.captions import Captions
from failbench.study.cells import ABSENT, estimate_text, percent, words, written
from failbench.study.estimates import rounded
from failbench.study.picture import legend_outside
from failbench.study.plain_table import Column, Table
from failbench.study.publication import publish, run
from failbench.study.style import BLACK, GREEN, ORANGE, PURPLE, Mark

TRACES = Path("data/reasoning/traces.parquet")
EXPECTED = Path("data/reasoning/expected_verdicts.csv")


class Pictured(Record):
    """What the figure of the lenses draws."""

    task: str
    seed: int
    tokenizer: str
    conditions: tuple[str, ...] = Field(min_length=1, max_length=3)


class ReasoningLensesSettings(Record):
    """The section ``reasoning_lenses`` of params.yaml, with what it takes of ``statistics``."""

    answer_resamples: int = Field(ge=100)
    healthy: str
    trees: int = Field(ge=10)
    pictured: Pictured
    confidence: float = Field(gt=0.5, lt=1)
    seed: int = Field(ge=0)

    @property
    def resampling(self) -> ResamplingSettings:
        """How answers are resampled."""
        return ResamplingSettings(
            resamples=self.answer_resamples, confidence=self.confidence, seed=self.seed
        )


def check_traces(traces: pl.DataFrame, expected: Sequence[Expected], healthy: str) -> None:
    """Refuse traces that the question cannot be put to."""

    def refuse(when: bool, field: str, problem: str) -> None:
        if when:
            remedy = "Record the traces again, or restore them with git."
            raise BadInputError(TRACES, field, problem, remedy)

    refuse(traces.is_empty(), "(rows)", "there are none.")
    for name in ("condition", "seed"):
        refuse(traces[name].null_count() > 0, name, "is not known of every model.")
    models = traces.group_by("model").agg(
        pl.col("condition", "seed", "tokenizer").unique(), pl.col("task").unique().sort()
    )
    for name in ("condition", "seed", "tokenizer"):
        refuse((models[name].list.len() > 1).any(), name, "differs within a model.")
    refuse(models["task"].n_unique() > 1, "task", "not all models have the same tasks.")
    flat = models.explode("condition", "seed", "tokenizer")
    seeds = flat.group_by("condition", "tokenizer").agg(pl.col("seed").unique().sort())["seed"]
    unlike = seeds.n_unique() > 1 or len(seeds[0]) < 2
    refuse(unlike, "seed", "conditions have not the same two seeds or more.")
    compared = set(flat.filter(condition=healthy)["tokenizer"])
    for tokenizer in sorted(set(flat["tokenizer"]) - compared):
        refuse(True, "tokenizer", f"no model of the tokenizer {tokenizer!r} is {healthy}.")
    conditions = {each.condition for each in expected}
    for condition in sorted(set(flat["condition"]) ^ conditions):
        known = "no lens is expected to say anything of it" if condition not in conditions else ""
        problem = f"{condition!r}: {known or 'there is no model of this condition'}."
        raise BadInputError(EXPECTED, "condition", problem, "Add or take out its rows.")


ALL = "all"
SETS: dict[str, tuple[Lens, ...]] = {**{lens: (lens,) for lens in LENSES}, ALL: LENSES}
"""Lenses whose numbers are read, by name: each alone, and all."""

RESAMPLED = ("resampled_low", "resampled_high")
"""Quantiles of a share when answers are resampled."""

Pairs = dict[str, set[frozenset[str]]]
"""By lenses, the pairs of conditions that they tell apart."""


def naming(
    looks: Sequence[View], models: pl.DataFrame, settings: ReasoningLensesSettings
) -> tuple[pl.DataFrame, pl.DataFrame, Pairs]:
    """How often lenses name the condition, what they name each model, and what they tell apart."""
    origins = Origins.of(models, settings.healthy)
    builders, tail = classifiers(settings.trees, settings.seed), (1 - settings.confidence) / 2
    rates, names, pairs = [], [], {}
    for which, lenses in SETS.items():
        numbers = vectors(looks, lenses)
        for classifier, build in builders.items():
            answers = named(numbers[0], origins, build)
            keys = {"lenses": which, "classifier": classifier}
            right = int((answers == origins.condition).sum())
            rates.append(keys | rate(right / models.height, models.height, settings.confidence))
            if classifier == PRIMARY:  # alone resampled: it takes a millisecond to fit
                resampled = (named(draw, origins, build) for draw in numbers[1:])
                shares = [(answers == origins.condition).mean() for answers in resampled]
                ends = np.quantile(shares, (tail, 1 - tail))
                rates[-1] |= dict(zip(RESAMPLED, map(float, ends), strict=True))
                answer = pl.Series("named", answers.tolist())
                names.append(models.select(pl.lit(which).alias("lenses"), pl.all(), answer))
        pairs[which] = told_apart(numbers[0], origins, builders[PRIMARY])
    return pl.DataFrame(rates), pl.concat(names), pairs


def rate(value: float, n: int, confidence: float) -> dict[str, float]:
    """A share of models, with Wilson's interval."""
    low, high = wilson(value, n, confidence)
    return {"value": value, "ci_low": low, "ci_high": high, "n": n}


def as_expected(
    given: pl.DataFrame, models: pl.DataFrame, confidence: float
) -> dict[str, dict[str, float]]:
    """Shares of slices with the expected verdict, by what a lens should see and by lens.

    Tasks of one model are not independent, nor are lenses at it, so that each model counts once.
    """
    parts = {"telling": given.filter("telling"), "silent": given.filter(~pl.col("telling"))}
    parts |= {str(lens): part for (lens,), part in given.group_by("lens", maintain_order=True)}
    n = {name: models.join(part, on="condition", how="semi").height for name, part in parts.items()}
    shares = {name: sum(part["given"]) / sum(part["n_given"]) for name, part in parts.items()}
    return {name: rate(share, n[name], confidence) for name, share in shares.items()}


COURSE: dict[Lens, tuple[str, ...]] = {
    "surface": ("accuracy", "boundary_length", "boundary_depth", "relative_fall", "truncated"),
    "hazard": ("wrong_incidence", "wrong_ahead", "front_loading"),
}
BYTES: dict[Lens, tuple[str, ...]] = {
    "compression": (
        *("token_ratio", "unmatched_difference", "matched_difference", "unmatched_auc"),
        *("matched_auc", "repetition_failed", "loops_failed", "growth"),
    )
}
"""Numbers that a table shows by condition."""

SET_LABELS = {lens: lens for lens in LENSES} | {ALL: "all four"}
CLASSIFIER_LABELS = {
    PRIMARY: "Nearest mean",
    "logistic_regression": "Logistic regression",
    "random_forest": "Forest",
}

Parts = tuple[Iterable[Column], Iterable[tuple[str, ...]]]
"""Columns and rows of a table."""

left = partial(Column, align="left")


def rate_text(row: Mapping[str, Any]) -> str:
    """A share in percent with its interval, and that of resampled answers."""
    ends = [percent(row[end]) for end in RESAMPLED if end in row]
    return estimate_text(row) + (f" ({' to '.join(ends)})" if ends else "")


def naming_table(rates: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Parts:
    rows = []
    for which, label in SET_LABELS.items():
        main = rates[which][PRIMARY]
        right = f"{main['value'] * main['n']:.0f} of {main['n']}"
        rows.append((label, right, *(rate_text(rates[which][name]) for name in CLASSIFIER_LABELS)))
    return (left("Lens"), Column("Right"), *map(Column, CLASSIFIER_LABELS.values())), rows


def confusion_table(names: pl.DataFrame, conditions: Sequence[str]) -> Parts:
    counts = Counter(names.filter(lenses=ALL).select("condition", "named").rows())
    rows = [
        (words(condition), *(str(counts[condition, name] or ABSENT) for name in conditions))
        for condition in conditions
    ]
    return (left("Condition"), *(Column(words(name), "Named") for name in conditions)), rows


def pairs_table(pairs: Pairs, conditions: Sequence[str]) -> Parts:
    """Below the diagonal, the lenses that tell two conditions apart."""
    rows, n = [], len(conditions) - 1
    for place, condition in enumerate(conditions[1:], start=1):
        telling = (
            ", ".join(SET_LABELS[which] for which in SETS if {condition, other} in pairs[which])
            for other in conditions[:place]
        )
        cells = (words(condition), *(text or "none" for text in telling))
        rows.append((*cells, *[""] * (n - place)))
    columns = (left(words(name), width=0.86 / n) for name in conditions[:-1])
    return (left("Condition", width=0.14), *columns), rows


def counts_text(names: pl.Series) -> str:
    """Names with how often each is there, the most frequent one first."""
    counts = Counter(sorted(names)).most_common()
    return ", ".join(f"{words(name)} {count}" for name, count in counts)


def verdicts_table(verdicts: pl.DataFrame, conditions: Sequence[str]) -> Parts:
    rows = []
    for condition in conditions:
        lenses = [verdicts.filter(condition=condition, lens=lens) for lens in LENSES]
        cells = (counts_text(part["verdict"]) for part in lenses)
        rows.append((words(condition), *cells, counts_text(lenses[0]["synthesis"])))
    columns = (left(lens, width=0.17) for lens in LENSES)
    return (left("Condition", width=0.13), *columns, left("Together", width=0.19)), rows


RULE_COLUMNS = (
    left("Condition", width=0.13),
    left("Lens", width=0.1),
    left("Expected", width=0.14),
    Column("Given", width=0.08),
    Column("Healthy", width=0.08),
    Column("Others", width=0.09),
    left("Most often", width=0.12),
    left("Why expected", width=0.26),
)


def rules_table(given: pl.DataFrame) -> Parts:
    """Expected verdicts, and how often they are given."""
    parts: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for row in given.iter_rows(named=True):
        condition, verdicts = words(row["condition"]), " or ".join(map(words, row["verdicts"]))
        counts = (f"{row[name]} of {row[f'n_{name}']}" for name in ("given", "healthy", "others"))
        cells = (condition, row["lens"], verdicts, *counts, words(row["usual"]), row["why"])
        parts[row["telling"]].append(cells)
    return RULE_COLUMNS, [*parts[True], ("Not expected to see it", *[""] * 7), *parts[False]]


def numbers_table(
    measures: pl.DataFrame, shown: Mapping[Lens, tuple[str, ...]], conditions: Sequence[str]
) -> Parts:
    """Means over tasks and seeds by condition, with the least and the greatest of a seed."""
    columns, rows = [left("Condition", width=0.14)], [[words(name)] for name in conditions]
    for lens, name in ((lens, name) for lens, names in shown.items() for name in names):
        width = 0.86 / sum(map(len, shown.values()))
        columns.append(Column(measure_kinds()[lens][name].title, lens, width=width))
        of_seeds = measures.filter(lens=lens, measure=name).group_by("condition", "seed")
        seeds = of_seeds.agg(pl.col("value").mean()).drop_nulls().sort("seed")
        for row, condition in zip(rows, conditions, strict=True):
            means = seeds.filter(condition=condition)["value"].to_numpy()
            ends = [f"{end(means):.2f}" for end in (np.mean, np.min, np.max) if means.size]
            row.append("{} ({} to {})".format(*ends) if ends else ABSENT)
    return columns, map(tuple, rows)


PROMPT_COLOURS = (BLACK, GREEN, PURPLE, ORANGE)
TITLES = {
    "surface": "surface: where",
    "fft": "fft: how the problem is shown",
    "compression": "compression: how",
    "hazard": "hazard: when",
}


def pictured_looks(
    looks: Sequence[View], settings: ReasoningLensesSettings
) -> tuple[list[View], list[View]]:
    """Looks at the models of the figure, the healthy one first, and at different prompts.

    The lens ``fft`` sees prompts, which are the same for most models of a tokenizer: there the
    first model stands for all of its seed that were shown the same, healthy ones first.
    """
    pictured = settings.pictured
    where = pictured.task, pictured.seed
    same = [each for each in looks if (each.part.task, each.part.seed) == where]
    known = {(each.part.condition, each.part.tokenizer): each for each in same}
    chosen, different = [], list[View]()
    for condition in (settings.healthy, *pictured.conditions):
        if (condition, pictured.tokenizer) not in known:
            raise BadInputError(
                TRACES,
                "condition",
                f"no model is {condition!r} with seed {pictured.seed} and tokenizer "
                f"{pictured.tokenizer!r}, or it has no task {pictured.task!r}.",
                "Change reasoning_lenses.pictured in params.yaml.",
            )
        chosen.append(known[condition, pictured.tokenizer])
    for each in sorted(same, key=lambda each: each.part.condition != settings.healthy):
        points = each.looks["fft"].points
        if not any(points.equals(other.looks["fft"].points) for other in different):
            different.append(each)
    return chosen, different


def curves_of_looks(chosen: Sequence[View], different: Sequence[View]) -> pl.DataFrame:
    keys = ("condition", "tokenizer", "model")
    return rounded(
        pl.concat(
            curves_of(lens, each.looks[lens].points).select(
                *(pl.lit(getattr(each.part, key)).alias(key) for key in keys),
                pl.lit(lens).alias("lens"),
                pl.all(),
            )
            for lens in LENSES
            for each in (different if lens == "fft" else chosen)
        )
    )


def draw(curves: pl.DataFrame, figure: Figure) -> None:
    """Four panels, a lens each, with a line a model."""
    drawn = curves.filter(pl.col("lens") != "fft")["condition"]
    marks = marks_of(drawn.unique(maintain_order=True).to_list())
    prompts = curves.filter(lens="fft").select("condition", "tokenizer").unique(maintain_order=True)
    for axes, lens in zip(figure.subplots(2, 2).flat, LENSES, strict=True):
        of_lens = curves.filter(lens=lens)
        if lens == "fft":
            for keys, colour in zip(prompts.iter_rows(named=True), PROMPT_COLOURS, strict=False):
                label = f"{keys['tokenizer']}, {words(keys['condition'])}"
                draw_curves(axes, lens, of_lens.filter(**keys), Mark(label, colour, ""))
                axes.plot([], [], color=colour, label=label)
            axes.legend(loc="upper left")
            name_axes(axes, lens)
            # room for the legend above the spectra
            axes.set_ylim(top=(1 + 0.14 * prompts.height) * of_lens["y"].to_numpy().max())
        else:
            for condition, mark in marks.items():
                draw_curves(axes, lens, of_lens.filter(condition=condition), mark)
            name_axes(axes, lens)
        axes.set_title(TITLES[lens])
    handles = [Mark(words(name), mark.colour, mark.marker).handle for name, mark in marks.items()]
    legend_outside(figure, [*handles, *outcome_handles()], columns=6, handlelength=2.2)


def numbers(
    traces: pl.DataFrame, models: pl.DataFrame, names: pl.DataFrame, chosen: Sequence[View]
) -> dict[str, object]:
    """The sample, and at which length each model of the figure stops being right."""
    boundaries = (
        f"{written(each.looks['surface'].measures['boundary_length'].value, 'two')} "
        f"({words(str(each.part.condition))})"
        for each in chosen
    )
    return {
        "n": models.height,
        "seeds": models["seed"].n_unique(),
        "conditions": models["condition"].n_unique(),
        "tokenizers": " and ".join(models["tokenizer"].unique().sort()),
        "answers": f"{traces.height:,}",
        "tasks": ", ".join(traces["task"].unique().sort()),
        "right": names.filter(pl.col("named") == pl.col("condition"), lenses=ALL).height,
        "boundaries": ", ".join(boundaries),
    }


def main() -> None:
    said = Captions.read("reasoning_lenses")
    settings = read_with_statistics("reasoning_lenses", ReasoningLensesSettings)
    traces, expected = read_traces(TRACES), read_expected(EXPECTED)
    check_traces(traces, expected, settings.healthy)

    looks = look_at_models(traces, settings.resampling)
    chosen, different = pictured_looks(looks, settings)
    curves = curves_of_looks(chosen, different)
    verdicts, measures = verdict_table(looks), rounded(measure_table(looks))
    models = verdicts.select("model", "condition", "seed", "tokenizer").unique(maintain_order=True)
    rates, names, pairs = naming(looks, models, settings)
    given = verdicts_given(verdicts, expected, settings.healthy)
    sizes = Counter(models["condition"])
    conditions = sorted(sizes, key=lambda name: (name != settings.healthy, name))
    both = list(combinations(conditions, 2))
    untold = [pair for pair in both if not any(set(pair) in told for told in pairs.values())]
    metrics: dict[str, Any] = {
        "named": nest(rates, "lenses", "classifier", leaves=(*ESTIMATE, *RESAMPLED)),
        "chance": 1 / len(sizes),
        "majority": max(sizes.values()) / models.height,
        "pairs": len(both),
        "pairs_not_told_apart": len(untold),
        "verdicts_as_expected": as_expected(given, models, settings.confidence),
    }
    alike = {"untold": ", ".join(f"{words(one)} and {words(other)}" for one, other in untold)}
    said = said.with_numbers(settings, metrics, numbers(traces, models, names, chosen), alike)
    tables = {
        "reasoning_lenses": naming_table(metrics["named"]),
        "reasoning_lenses_confusion": confusion_table(names, conditions),
        "reasoning_lenses_pairs": pairs_table(pairs, conditions),
        "reasoning_lenses_verdicts": verdicts_table(verdicts, conditions),
        "reasoning_lenses_rules": rules_table(given),
        "reasoning_lenses_course": numbers_table(measures, COURSE, conditions),
        "reasoning_lenses_bytes": numbers_table(measures, BYTES, conditions),
    }
    publish(
        "reasoning_lenses",
        metrics=metrics,
        points={
            "reasoning_lenses": measures,
            "reasoning_lenses_verdicts": verdicts,
            "reasoning_lenses_named": names,
            "reasoning_lenses_curves": curves,
        },
        tables=[
            Table(name, tuple(columns), tuple(rows), said.caption(name), said.notes(name))
            for name, (columns, rows) in tables.items()
        ],
        figures={"reasoning_lenses": said.picture("figure", 4.0, partial(draw, curves))},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=rates.select("lenses", "classifier", *ESTIMATE),
    )


if __name__ == "__main__":
    run(main)
