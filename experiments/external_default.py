"""Stage external_default: what the published accuracy on DEFault's runs rests on."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench import study as st
from failbench.neighbours import external as released_data
from failbench.neighbours.external import DETECTION, POSITIVES, ReleasedTables
from shared import external_default as external
from shared.external_default import ExternalDefaultSettings

RELEASED = Path("data/external/default")
MEASUREMENTS = Path("data/measurements/external_default")

MAJORITY = "majority"
"""The method that names the most frequent label of the tested rows, and reads nothing."""

GROUPED_PROTOCOL = r"^(blocks|clusters)_(\d+)$"

TASKS = {DETECTION: "Faulty or correct", external.CATEGORY: "Which of seven fault categories"}


def estimates(
    answers: pl.DataFrame,
    groups: pl.DataFrame,
    released: ReleasedTables,
    settings: ExternalDefaultSettings,
) -> pl.DataFrame:
    """Accuracies of all conditions, and what ours have above the authors' forest.

    The runs of a group go together, so that groups and not runs are drawn. Where folds keep groups
    together, these are the groups; elsewhere they are contiguous blocks. Intervals take the fits as
    given.
    """
    unit = ("task", "grouping", "groups")
    way = pl.col("protocol").str.extract(GROUPED_PROTOCOL, 1).fill_null("blocks")
    number = pl.col("protocol").str.extract(GROUPED_PROTOCOL, 2).cast(pl.Int32)
    grouped = answers.with_columns(grouping=way, groups=number.fill_null(settings.groups)).join(
        groups, on=(*unit, "row"), how="left", maintain_order="left"
    )
    labels = {name: task.labels for name, task in external.tasks_of(released).items()}
    heights = pl.col("task").replace_strict({name: len(each) for name, each in labels.items()})
    alone = grouped.filter(pl.col("group").is_null() | (pl.col("row") >= heights))
    if alone.height:
        condition = "/".join(alone.select(external.CONDITION).row(0))
        raise st.BadInputError(MEASUREMENTS, "row", f"of {condition} has no group.", st.REMEDY)
    largest = groups.group_by(unit).agg(pl.col("group").max()).rows()
    sizes = {(task, way, number): group + 1 for task, way, number, group in largest}
    return pl.concat(
        of_groups_drawn(part, labels[str(key[0])], sizes[key], settings)
        for key, part in grouped.group_by(unit, maintain_order=True)
    ).sort(*external.CONDITION, "metric")


def of_groups_drawn(
    answers: pl.DataFrame, labels: st.Labels, n_groups: int, settings: st.BootstrapSettings
) -> pl.DataFrame:
    """All figures of conditions with the same groups, from the same resamples."""
    names = sorted(set(labels))
    truth = labels[answers["row"].to_numpy()].astype(str)
    asked = answers.select(external.CONDITION).unique(maintain_order=True)
    numbered = answers.join(asked.with_row_index(), on=external.CONDITION, maintain_order="left")
    cells = (*numbered["index", "group"].to_numpy().T, np.searchsorted(names, truth))
    size = np.zeros((asked.height, n_groups, len(names)))
    right = np.zeros_like(size)
    np.add.at(size, cells, 1.0)
    np.add.at(right, cells, answers["answer"].to_numpy().astype(str) == truth)

    # beside them the majority of each protocol, all of whose conditions answer the same rows
    first = asked.with_row_index().unique("protocol", keep="first", maintain_order=True)
    of_first = size[first["index"].to_numpy()]
    most = of_first.sum(axis=1).argmax(axis=-1)
    of_most = of_first * (np.arange(len(names)) == most[:, None])[:, None]
    size, right = np.concatenate([size, of_first]), np.concatenate([right, of_most])
    majority = {"columns": pl.lit("none"), "method": pl.lit(MAJORITY)}
    keys = [*asked.rows(), *first.with_columns(**majority).select(external.CONDITION).rows()]
    place = {key: at for at, key in enumerate(keys)}
    theirs = [place.get((*key[:3], external.THEIR_FOREST), at) for at, key in enumerate(keys)]

    def figures(weights: st.Weights) -> st.Array:
        """``[n_metrics * n_conditions, ...]`` of weights ``[..., n_groups]``."""
        of_right, of_size = (np.tensordot(weights[0], each, (-1, 1)) for each in (right, size))
        accuracy = of_right.sum(axis=-1) / of_size.sum(axis=-1)
        drawn = of_size > 0
        recall = np.divide(of_right, of_size, out=np.zeros_like(of_right), where=drawn)
        balanced = recall.sum(axis=-1) / drawn.sum(axis=-1)
        # of rules, with labels in alphabetical order: buggy, correct
        called = of_right[..., 0] + of_size[..., -1] - of_right[..., -1]
        precision = np.divide(of_right[..., 0], called, out=np.zeros_like(called), where=called > 0)
        found = np.stack([accuracy, balanced, accuracy - accuracy[..., theirs], precision])
        return np.moveaxis(found, -1, 1).reshape(-1, *accuracy.shape[:-1])

    resampled = st.resample(st.single_seeds([n_groups]), figures, settings)
    values = figures([np.ones(n_groups)]).reshape(-1, len(keys))
    ours = [
        key[2] == "all" and key[3] in (*external.HOUSE_METHODS, external.SIMPLE_RULES)
        for key in keys
    ]
    rules = [key[3] == external.SIMPLE_RULES for key in keys]
    calls = right[:, :, 0] + size[:, :, -1] - right[:, :, -1]
    always = [True] * len(keys)
    metrics = {"accuracy": always, "balanced_accuracy": always}
    metrics |= {"difference": ours, "precision": rules}
    found = []
    for number, (metric, wanted) in enumerate(metrics.items()):
        for at in np.flatnonzero(wanted):
            value = float(values[number, at])
            drawn = int((size[at].sum(axis=-1) > 0).sum())
            low, high, _ = resampled.number(number * len(keys) + at, value)
            if metric != "difference" and value in (0.0, 1.0):
                low, high = st.wilson(value, drawn, settings.confidence)
            runs = (calls if metric == "precision" else size)[at].sum()
            found.append((*keys[at], metric, value, low, high, drawn, int(runs)))
    return pl.DataFrame(found, [*external.CONDITION, "metric", *st.ESTIMATE, "rows"], orient="row")


def with_printed(
    measured: pl.DataFrame, released: ReleasedTables, settings: ExternalDefaultSettings
) -> st.Estimates:
    """The frame of tables: protocols by way and number of groups, runs, and what is printed."""
    way, number = (pl.col("protocol").str.extract(GROUPED_PROTOCOL, part) for part in (1, 2))
    frame = measured.with_columns(
        protocol=way.fill_null(pl.col("protocol")),
        groups=number.cast(pl.Int64).fill_null(settings.groups),
    )
    sizes = {"metric": pl.format("{}_runs", "metric"), "value": pl.col("rows").cast(pl.Float64)}
    runs = frame.select(*external.CONDITION, "groups", **sizes)
    printed = {"protocol": external.PRINTED, "columns": "printed", "groups": settings.groups}
    printed["method"] = external.THEIR_FOREST
    found = st.Estimates.of(frame, runs)
    for name in (*TASKS, *POSITIVES):
        keys = {**printed, "task": name}
        found = found.plus(*st.reported(keys=keys, accuracy=released.printed_figure(name)))
    return found


def numbers(
    found: st.Estimates, released: ReleasedTables, settings: ExternalDefaultSettings
) -> dict[str, object]:
    keys = {"task": DETECTION, "columns": "all", "method": external.THEIR_FOREST}
    of_forest = found.where(metric="accuracy", **keys).frame
    others = of_forest.filter(pl.col("groups") != settings.groups)["value"]
    return {
        "runs": f"{released.detection.height:,}",
        "crashed": int(released_data.crashed(released.detection).sum()),
        "simple": released_data.simple_rules_asked(released.columns),
        "improved": released_data.improved_rules_asked(released.columns),
        "other_numbers": " or ".join(map(str, sorted(settings.other_groups))),
        "least": others.min(),
        "most": others.max(),
    }


def tables(
    found: st.Estimates, said: st.Captions, settings: ExternalDefaultSettings
) -> Iterator[st.Table]:
    """By protocol and columns, each category, our methods beside theirs, and numbers of groups."""
    usual = found.where(groups=settings.groups)
    body: list[st.Row | st.Divider] = []
    for task, heading in TASKS.items():
        own = said.labels("external_default")
        if task == external.CATEGORY:  # has no crashed runs, so that none is left out
            own[external.SHUFFLED] = own[external.WITH_CRASHED]
            del own[external.PRINTED], own[external.WITH_CRASHED]
        body += [st.Divider(f"{heading}:"), *st.rows("protocol", own, task=task)]
    yield st.table("external_default", usual, None, body, said)
    of_categories = st.rows("task", dict(POSITIVES))
    yield st.table("external_default_categories", usual, None, of_categories, said)
    asked = {
        DETECTION: (*external.HOUSE_METHODS, external.SIMPLE_RULES),
        external.CATEGORY: external.HOUSE_METHODS,
    }
    body, called = [], {**st.METHOD_LABELS, **said.labels("external_default_methods")}
    for task, methods in asked.items():
        labels = {method: called[method] for method in (external.THEIR_FOREST, *methods)}
        answered = st.rows("method", labels, task=task, columns="all")
        majority = {"task": task, "columns": "none", "method": MAJORITY}
        body += [st.Divider(f"{TASKS[task]}:"), *answered, st.Row((called[MAJORITY],), majority)]
    yield st.table("external_default_methods", usual, None, body, said)
    sizes = {size: str(size) for size in sorted({settings.groups, *settings.other_groups})}
    of_sizes = st.rows("groups", sizes, columns="all", method=external.THEIR_FOREST)
    yield st.table("external_default_groups", found, None, of_sizes, said)


MARKS = {
    "all": st.Mark("all columns", st.VERMILLION, "o"),
    "training": st.Mark("without the host's", st.BLUE, "s"),
    "host": st.Mark("only the host's", st.ORANGE, "^"),
}
PRINTED_MARK = st.Mark("printed by the authors", st.BLACK, "|", size=9.0)


def draw(found: st.Estimates, rows: Mapping[str, str], figure: Figure) -> None:
    """How the printed accuracy falls, protocol by protocol."""
    titles = {DETECTION: "faulty or correct", external.CATEGORY: "which of seven categories"}
    panels = list(figure.subplots(1, 2, sharex=True, sharey=True))
    for axes, (task, title) in zip(panels, titles.items(), strict=True):
        of_task = found.where(task=task, metric="accuracy")
        drawn = of_task.where(method=external.THEIR_FOREST)
        points = drawn.frame.rename({"protocol": "row", "columns": "mark"})
        st.dot_plot(axes, points, rows, MARKS, spread=0.5)
        axes.plot(100 * drawn.value(columns="printed"), 0, **PRINTED_MARK.look)
        majority = of_task.value(protocol=external.SHUFFLED, method=MAJORITY)
        axes.axvline(100 * majority, color=st.GREY, linewidth=st.THICK, zorder=0)
        axes.set_title(title)
    panels[0].set_xlim(0, 102)
    figure.supxlabel("accuracy, percent of runs, with interval by resampling groups")
    line = Line2D([], [], color=st.GREY, linewidth=st.THICK, label="majority label")
    handles: list[st.Mark | Line2D] = [*MARKS.values(), PRINTED_MARK, line]
    st.legend_outside(figure, handles, columns=5, columnspacing=1.0, handletextpad=0.3)


def main() -> None:
    settings = st.read_with_statistics("external_default", ExternalDefaultSettings)
    answers = st.read_output(MEASUREMENTS / "answers.parquet", external.ANSWER_SCHEMA)
    groups = st.read_output(MEASUREMENTS / "groups.parquet", external.GROUP_SCHEMA)
    released = released_data.read_released(RELEASED)
    measured = st.rounded(estimates(answers, groups, released, settings))
    found = with_printed(measured, released, settings)
    usual = found.where(groups=settings.groups)
    nested, named = usual.nested(*external.CONDITION, "metric"), numbers(found, released, settings)
    said = st.Captions.read("external_default", nested, settings, named)
    drawing = partial(draw, usual, said.labels("figure"))
    st.publish(
        "external_default",
        metrics=st.nest(measured, *external.CONDITION, "metric", leaves=(*st.ESTIMATE, "rows")),
        points=measured,
        tables=tables(found, said, settings),
        figures={"external_default": said.picture("figure", 2.75, drawing)},
        sentences={"finding": said.text("finding", "text") + "\n"},
        summary=measured.filter(metric="accuracy").drop("metric", "rows"),
    )


if __name__ == "__main__":
    st.run(main)
