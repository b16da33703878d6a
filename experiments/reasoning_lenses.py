"""Stage reasoning_lenses: what four lenses on traces of reasoning tell of how models were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from pydantic import Field

from failbench import study as st
from failbench.neighbours.lenses import catalogue, drawing
from failbench.neighbours.lenses.catalogue import LENSES, Lens
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

TRACES = Path("data/reasoning/traces.parquet")
EXPECTED = Path("data/reasoning/expected_verdicts.csv")


class Pictured(st.Record):
    """What the figure of the lenses draws."""

    task: str
    seed: int
    tokenizer: str
    conditions: tuple[str, ...] = Field(min_length=1, max_length=3)


class ReasoningLensesSettings(st.Record):
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


def check_traces(
    traces: pl.DataFrame, expected: Sequence[catalogue.Expected], healthy: str
) -> None:
    """Refuse traces that the question cannot be put to."""

    def refuse(when: bool, field: str, problem: str) -> None:
        if when:
            remedy = "Record the traces again, or restore them with git."
            raise st.BadInputError(TRACES, field, problem, remedy)

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
        raise st.BadInputError(EXPECTED, "condition", problem, "Add or take out its rows.")


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
            share = (right / models.height, models.height, settings.confidence)
            rates.append(keys | st.wilson_row(*share))
            if classifier == PRIMARY:  # alone resampled: it takes a millisecond to fit
                resampled = (named(draw, origins, build) for draw in numbers[1:])
                shares = [(answers == origins.condition).mean() for answers in resampled]
                ends = np.quantile(shares, (tail, 1 - tail))
                rates[-1] |= dict(zip(RESAMPLED, map(float, ends), strict=True))
                answer = pl.Series("named", answers.tolist())
                names.append(models.select(pl.lit(which).alias("lenses"), pl.all(), answer))
        pairs[which] = told_apart(numbers[0], origins, builders[PRIMARY])
    return pl.DataFrame(rates), pl.concat(names), pairs


def as_expected(
    given: pl.DataFrame, models: pl.DataFrame, confidence: float
) -> dict[str, dict[str, float]]:
    """Shares of slices with the expected verdict; each model counts once, as its tasks depend."""
    parts = {"telling": given.filter("telling"), "silent": given.filter(~pl.col("telling"))}
    parts |= {str(lens): part for (lens,), part in given.group_by("lens", maintain_order=True)}
    n = {name: models.join(part, on="condition", how="semi").height for name, part in parts.items()}
    shares = {name: sum(part["given"]) / sum(part["n_given"]) for name, part in parts.items()}
    return {name: st.wilson_row(share, n[name], confidence) for name, share in shares.items()}


SET_LABELS = {lens: lens for lens in LENSES} | {ALL: "all four"}
CLASSIFIERS = (PRIMARY, "logistic_regression", "random_forest")

left = partial(st.Column, align="left")


def rate_text(row: Mapping[str, Any]) -> str:
    """A share in percent with its interval, and that of resampled answers."""
    ends = [st.percent(row[end]) for end in RESAMPLED if end in row]
    return st.estimate_text(row) + (f" ({' to '.join(ends)})" if ends else "")


def counts_text(names: pl.Series) -> str:
    """Names with how often each is there, the most frequent one first."""
    counts = Counter(sorted(names)).most_common()
    return ", ".join(f"{st.words(name)} {count}" for name, count in counts)


def tables(
    rates: Mapping[str, Mapping[str, Mapping[str, Any]]],
    names: pl.DataFrame,
    pairs: Pairs,
    verdicts: pl.DataFrame,
    given: pl.DataFrame,
    conditions: Sequence[str],
    said: st.Captions,
) -> Iterator[st.Table]:
    """What models are named, what lenses tell apart, their verdicts, and what was expected."""
    rows = []
    for which, label in SET_LABELS.items():
        main = rates[which][PRIMARY]
        right = f"{main['value'] * main['n']:.0f} of {main['n']}"
        rows.append((label, right, *(rate_text(rates[which][name]) for name in CLASSIFIERS)))
    yield st.sheet("reasoning_lenses", rows, said)

    counts = Counter(names.filter(lenses=ALL).select("condition", "named").rows())
    rows = [
        (st.words(condition), *(str(counts[condition, name] or st.ABSENT) for name in conditions))
        for condition in conditions
    ]
    columns = [left("Condition"), *(st.Column(st.words(name), "Named") for name in conditions)]
    yield st.sheet("reasoning_lenses_confusion", rows, said, columns=columns)

    rows, n = [], len(conditions) - 1
    for place, condition in enumerate(conditions[1:], start=1):  # below the diagonal
        telling = (
            ", ".join(SET_LABELS[which] for which in SETS if {condition, other} in pairs[which])
            for other in conditions[:place]
        )
        cells = (st.words(condition), *(text or "none" for text in telling))
        rows.append((*cells, *[""] * (n - place)))
    columns = [left(st.words(name), width=0.86 / n) for name in conditions[:-1]]
    columns.insert(0, left("Condition", width=0.14))
    yield st.sheet("reasoning_lenses_pairs", rows, said, columns=columns)

    rows = []
    for condition in conditions:
        lenses = [verdicts.filter(condition=condition, lens=lens) for lens in LENSES]
        of_lenses = (counts_text(part["verdict"]) for part in lenses)
        rows.append((st.words(condition), *of_lenses, counts_text(lenses[0]["synthesis"])))
    yield st.sheet("reasoning_lenses_verdicts", rows, said)

    parts: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for row in given.iter_rows(named=True):
        expected = " or ".join(map(st.words, row["verdicts"]))
        counted = (f"{row[name]} of {row[f'n_{name}']}" for name in ("given", "healthy", "others"))
        cells = (st.words(row["condition"]), row["lens"], expected, *counted)
        parts[row["telling"]].append((*cells, st.words(row["usual"]), row["why"]))
    rows = [*parts[True], ("Not expected to see it", *[""] * 7), *parts[False]]
    yield st.sheet("reasoning_lenses_rules", rows, said)


def numbers_table(
    name: str, measures: pl.DataFrame, conditions: Sequence[str], said: st.Captions
) -> st.Table:
    """Means over tasks and seeds by condition, with the least and the greatest of a seed."""
    columns, rows = [left("Condition", width=0.14)], [[st.words(each)] for each in conditions]
    kinds: Mapping[Any, Any] = catalogue.measure_kinds()
    shown = [(lens, each) for lens, all_of in said.labels(name).items() for each in all_of]
    for lens, measure in shown:
        width = 0.86 / len(shown)
        columns.append(st.Column(kinds[lens][measure].title, lens, width=width))
        of_seeds = measures.filter(lens=lens, measure=measure).group_by("condition", "seed")
        seeds = of_seeds.agg(pl.col("value").mean()).drop_nulls().sort("seed")
        for row, condition in zip(rows, conditions, strict=True):
            means = seeds.filter(condition=condition)["value"].to_numpy()
            ends = [f"{end(means):.2f}" for end in (np.mean, np.min, np.max) if means.size]
            row.append("{} ({} to {})".format(*ends) if ends else st.ABSENT)
    return st.sheet(name, rows, said, columns=columns)


PROMPT_COLOURS = (st.BLACK, st.GREEN, st.PURPLE, st.ORANGE)


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
            which = f"with seed {pictured.seed} and tokenizer {pictured.tokenizer!r}"
            problem = f"no model is {condition!r} {which}, or it has no task {pictured.task!r}."
            remedy = "Change reasoning_lenses.pictured in params.yaml."
            raise st.BadInputError(TRACES, "condition", problem, remedy)
        chosen.append(known[condition, pictured.tokenizer])
    for each in sorted(same, key=lambda each: each.part.condition != settings.healthy):
        points = each.looks["fft"].points
        if not any(points.equals(other.looks["fft"].points) for other in different):
            different.append(each)
    return chosen, different


def draw(curves: pl.DataFrame, titles: Mapping[str, str], figure: Figure) -> None:
    """Four panels, a lens each, with a line a model."""
    drawn = curves.filter(pl.col("lens") != "fft")["condition"]
    marks = drawing.marks_of(drawn.unique(maintain_order=True).to_list())
    prompts = curves.filter(lens="fft").select("condition", "tokenizer").unique(maintain_order=True)
    for axes, lens in zip(figure.subplots(2, 2).flat, LENSES, strict=True):
        of_lens = curves.filter(lens=lens)
        if lens == "fft":
            for keys, colour in zip(prompts.iter_rows(named=True), PROMPT_COLOURS, strict=False):
                label = f"{keys['tokenizer']}, {st.words(keys['condition'])}"
                drawing.draw_curves(axes, lens, of_lens.filter(**keys), st.Mark(label, colour, ""))
                axes.plot([], [], color=colour, label=label)
            axes.legend(loc="upper left")
            drawing.name_axes(axes, lens)
            # room for the legend above the spectra
            axes.set_ylim(top=(1 + 0.14 * prompts.height) * of_lens["y"].to_numpy().max())
        else:
            for condition, mark in marks.items():
                drawing.draw_curves(axes, lens, of_lens.filter(condition=condition), mark)
            drawing.name_axes(axes, lens)
        axes.set_title(titles[lens])
    named = (st.Mark(st.words(name), mark.colour, mark.marker) for name, mark in marks.items())
    st.legend_outside(figure, [*named, *drawing.outcome_handles()], columns=6, handlelength=2.2)


def numbers(
    traces: pl.DataFrame, models: pl.DataFrame, names: pl.DataFrame, chosen: Sequence[View]
) -> dict[str, object]:
    """The sample, and at which length each model of the figure stops being right."""
    boundaries = {
        st.words(str(each.part.condition)): each.looks["surface"].measures["boundary_length"].value
        for each in chosen
    }
    shortest, longest = (of(boundaries, key=boundaries.__getitem__) for of in (min, max))
    return {
        "n": models.height,
        "seeds": models["seed"].n_unique(),
        "conditions": models["condition"].n_unique(),
        "tokenizers": " and ".join(models["tokenizer"].unique().sort()),
        "answers": f"{traces.height:,}",
        "tasks": ", ".join(traces["task"].unique().sort()),
        "right": names.filter(pl.col("named") == pl.col("condition"), lenses=ALL).height,
        "longest": {"of": longest, "length": boundaries[longest]},
        "shortest": {"of": shortest, "length": boundaries[shortest]},
    }


def main() -> None:
    said = st.Captions.read("reasoning_lenses")
    settings = st.read_with_statistics("reasoning_lenses", ReasoningLensesSettings)
    traces, expected = read_traces(TRACES), catalogue.read_expected(EXPECTED)
    check_traces(traces, expected, settings.healthy)

    looks = look_at_models(traces, settings.resampling)
    chosen, different = pictured_looks(looks, settings)
    keys = ("condition", "tokenizer", "model")
    curves = pl.concat(
        drawing.curves_of(lens, each.looks[lens].points).select(
            *(pl.lit(getattr(each.part, key)).alias(key) for key in keys),
            pl.lit(lens).alias("lens"),
            pl.all(),
        )
        for lens in LENSES
        for each in (different if lens == "fft" else chosen)
    )
    curves = st.rounded(curves)
    verdicts, measures = verdict_table(looks), st.rounded(measure_table(looks))
    models = verdicts.select("model", "condition", "seed", "tokenizer").unique(maintain_order=True)
    rates, names, pairs = naming(looks, models, settings)
    given = catalogue.verdicts_given(verdicts, expected, settings.healthy)
    sizes = Counter(models["condition"])
    conditions = sorted(sizes, key=lambda name: (name != settings.healthy, name))
    both = list(combinations(conditions, 2))
    untold = [pair for pair in both if not any(set(pair) in told for told in pairs.values())]
    metrics: dict[str, Any] = {
        "named": st.nest(rates, "lenses", "classifier", leaves=(*st.ESTIMATE, *RESAMPLED)),
        "chance": 1 / len(sizes),
        "majority": max(sizes.values()) / models.height,
        "pairs": len(both),
        "pairs_not_told_apart": len(untold),
        "verdicts_as_expected": as_expected(given, models, settings.confidence),
    }
    alike = {"untold": ", ".join(f"{st.words(one)} and {st.words(other)}" for one, other in untold)}
    named_of = numbers(traces, models, names, chosen) | alike
    said = said.with_numbers(settings, metrics, named_of)
    drawing_of = partial(draw, curves, said.labels("figure"))
    st.publish(
        "reasoning_lenses",
        metrics=metrics,
        points={
            "reasoning_lenses": measures,
            "reasoning_lenses_verdicts": verdicts,
            "reasoning_lenses_named": names,
            "reasoning_lenses_curves": curves,
        },
        tables=[
            *tables(metrics["named"], names, pairs, verdicts, given, conditions, said),
            numbers_table("reasoning_lenses_course", measures, conditions, said),
            numbers_table("reasoning_lenses_bytes", measures, conditions, said),
        ],
        figures={"reasoning_lenses": said.picture("figure", 4.0, drawing_of)},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=rates.select("lenses", "classifier", *st.ESTIMATE),
    )


if __name__ == "__main__":
    st.run(main)
