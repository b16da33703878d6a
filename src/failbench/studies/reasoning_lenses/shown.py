"""What is shown of the models: the curves of the figure, and the finding in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from failbench.errors import BadInputError
from failbench.lenses.catalogue import LENSES, Lens
from failbench.lenses.curves import curves_of
from failbench.reporting.cells import percent, two_decimals, words
from failbench.studies.reasoning_lenses.models import TRACES, Model
from failbench.studies.reasoning_lenses.naming import PRIMARY
from failbench.studies.reasoning_lenses.results import ALL, SETS, Naming, Rate
from failbench.studies.reasoning_lenses.sample import PARTS, SET_LABELS, rate_cell
from failbench.studies.reasoning_lenses.settings import Pictured, ReasoningLensesSettings


def check_pictured(traces: pl.DataFrame, pictured: Pictured, healthy: str) -> None:
    """Refuse a picture of models that are not there."""
    for condition in (healthy, *pictured.conditions):
        if traces.filter(
            condition=condition,
            seed=pictured.seed,
            tokenizer=pictured.tokenizer,
            task=pictured.task,
        ).is_empty():
            raise BadInputError(
                TRACES,
                "condition",
                f"no model is {condition!r} with seed {pictured.seed} and tokenizer "
                f"{pictured.tokenizer!r}, or it has no task {pictured.task!r}.",
                "Change reasoning_lenses.pictured in params.yaml.",
            )


def pictured_models(models: Sequence[Model], pictured: Pictured, healthy: str) -> list[Model]:
    """The models of the figure, the healthy one first."""
    known = {(model.condition, model.seed, model.tokenizer): model for model in models}
    return [
        known[condition, pictured.seed, pictured.tokenizer]
        for condition in (healthy, *pictured.conditions)
    ]


def pictured_curves(models: Sequence[Model], chosen: Sequence[Model], task: str) -> pl.DataFrame:
    """The curves of some models on a task, through each lens.

    The lens ``fft`` sees prompts, which are the same for most models of a tokenizer: there the
    first model stands for all of its seed that were shown the same, healthy ones first.
    """
    of_seed = [model for model in models if model.seed == chosen[0].seed]
    of_seed.sort(key=lambda model: model.condition != chosen[0].condition)
    different: list[Model] = []
    for model in of_seed:
        points = _points(model, task, "fft")
        if not any(points.equals(_points(known, task, "fft")) for known in different):
            different.append(model)
    return pl.concat(
        curves_of(lens, _points(model, task, lens)).select(
            pl.lit(model.condition).alias("condition"),
            pl.lit(model.tokenizer).alias("tokenizer"),
            pl.lit(model.name).alias("model"),
            pl.lit(lens).alias("lens"),
            pl.all(),
        )
        for lens in LENSES
        for model in (different if lens == "fft" else chosen)
    )


def _points(model: Model, task: str, lens: Lens) -> pl.DataFrame:
    return model.tasks[task].looks[lens].points


def pictured_finding(chosen: Sequence[Model], task: str) -> str:
    """The title of the figure: at which length each model stops being right."""
    boundaries = [
        (model.condition, model.tasks[task].looks["surface"].measures["boundary_length"].value)
        for model in chosen
    ]
    said = ", ".join(f"{two_decimals(at)} ({words(name)})" for name, at in boundaries)
    return f"In {task} half of the answers are right up to length {said}"


def finding(
    naming: Naming,
    rules: dict[str, Rate],
    alike: Sequence[tuple[str, str]],
    settings: ReasoningLensesSettings,
) -> str:
    """What the study comes to, as a paragraph of markdown."""
    together = naming.rates[ALL, PRIMARY]
    single = [which for which in SETS if which != ALL]
    by_lens = ", ".join(
        f"{SET_LABELS[which]} {percent(naming.rates[which, PRIMARY].value)} %" for which in single
    )
    pairs = len(next(iter(naming.pairs.values())))
    untold = ", ".join(f"{words(one)} and {words(other)}" for one, other in alike)
    told = f"Of {pairs} pairs of conditions no lens tells apart {untold}"
    if not alike:
        told = f"Each of {pairs} pairs of conditions is told apart by a lens or by all together"
    verdicts = "; ".join(
        f"{words_of} in {rate_cell(rules[part])} % (n = {rules[part].n} models)"
        for part, words_of in PARTS.items()
        if part in rules
    )
    return (
        f"Asked which condition made a model whose seed it never saw, the nearest mean of the "
        f"numbers of all four lenses is right for {together.count:.0f} of {together.n} models "
        f"({rate_cell(together)} %; chance {percent(naming.chance)} %, the most frequent condition "
        f"{percent(naming.majority)} %); alone: {by_lens}. {told}. "
        f"Verdicts by rules that were fixed beforehand are as expected "
        f"{verdicts}. Intervals are of {100 * settings.confidence:g} %.\n"
    )
