"""Stage significance: the named contrasts tested, but for those that are in-sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from failbench import study as st

KEYS = ("feature_set", "left", "right")
TESTED = st.Mark("tested, p: Holm-adjusted", st.BLACK, "D", size=3.5)
MARKS = {
    "tested": TESTED,
    "in-sample": replace(TESTED, label="in-sample, no test", fill="none"),
}


def compare(
    predictions: pl.DataFrame, settings: st.SignificanceSettings
) -> tuple[list[st.Comparison], list[st.Difference]]:
    """The contrasts that are tested, and those of methods made in view of the scenarios."""
    in_view = tuple(pair for pair in settings.contrasts if any(map(st.made_in_view, pair)))
    held_out = tuple(pair for pair in settings.contrasts if pair not in in_view)
    development = compare_pairs(predictions, settings, in_view)
    return compare_pairs(predictions, settings, held_out), [each.untested for each in development]


def compare_pairs(
    predictions: pl.DataFrame, settings: st.SignificanceSettings, pairs: tuple[st.Pair, ...]
) -> list[st.Comparison]:
    """Pairs on the primary feature set and then on the others; Holm's adjustment is over them."""
    if not pairs:
        return []
    of_pairs = predictions.filter(pl.col("method").is_in(set(chain(*pairs))))
    others = sorted(set(predictions["feature_set"]) - {settings.feature_set})
    found: list[st.Comparison] = []
    for name in (settings.feature_set, *others):
        asked = settings.model_copy(update={"feature_set": name, "contrasts": pairs})
        found += st.compare_all(of_pairs, asked)
    return found


def features(feature_set: str) -> str:
    return st.FEATURE_SET_LABELS.get(feature_set, feature_set)


def numbers(
    contrasts: pl.DataFrame, repeats: int, settings: st.SignificanceSettings
) -> dict[str, object]:
    """The design, and how many contrasts are decided on the primary feature set."""
    primary = contrasts.filter(pl.col("p").is_not_null(), feature_set=settings.feature_set)
    differ = (primary["p_holm"] <= settings.alpha).sum()
    equal = primary.filter(pl.col("equivalent"), pl.col("p_holm") > settings.alpha).height
    folds = contrasts["folds"][0]
    return {
        "primary": features(settings.feature_set),
        "repeats": repeats,
        "folds": folds,
        "df": folds - 1,
        "development": contrasts["p"].null_count(),
        "tested": primary.height,
        "differ": differ,
        "equal": equal,
        "undecided": primary.height - differ - equal,
    }


def words(contrast: Mapping[str, Any]) -> dict[str, object]:
    """What a sentence says of one contrast beside its numbers."""
    left, right, size = contrast["left"], contrast["right"], st.percent(abs(contrast["difference"]))
    return {
        "features": features(contrast["feature_set"]),
        "left": st.label_inside(left),
        "right": st.label_inside(right),
        "size": size if size != st.percent(0) else "",
        "direction": "more" if contrast["difference"] > 0 else "fewer",
        "bounded": contrast["ci_low"] is not None,
        "tested": contrast["p"] is not None,
        "seen": " and ".join(
            st.label_inside(name) for name in (left, right) if st.made_in_view(name)
        ),
    }


def sentence(contrast: Mapping[str, Any], settings: st.SignificanceSettings) -> str:
    """One contrast in one sentence: size, uncertainty, verdicts, and what could have been seen."""
    said = st.Captions.read("significance", settings, contrast, words(contrast))
    return said.text("sentence", "text")


def contrasts_table(contrasts: pl.DataFrame, found: st.Estimates, said: st.Captions) -> st.Table:
    """The contrasts under every test."""
    body = [
        st.Row(
            (features(name), f"{st.method_label(left)} – {st.label_inside(right)}"),
            {"feature_set": name, "left": left, "right": right},
        )
        for name, left, right in contrasts.select(KEYS).iter_rows()
    ]
    notes = st.development_note([*contrasts["left"], *contrasts["right"]])
    return st.table("contrasts", found, None, body, said, *notes)


def draw(contrasts: pl.DataFrame, settings: st.SignificanceSettings, figure: Figure) -> None:
    """A panel per feature set, the primary first, with the adjusted p in the corner of each row."""
    tested = pl.col("p").is_not_null()
    mark = pl.when(tested).then(pl.lit("tested")).otherwise(pl.lit("in-sample"))
    points = contrasts.with_columns(panel="feature_set", mark=mark)
    rows = {
        row: f"{st.drawn_label(left)}\n− {st.label_inside(right)}"
        for row, left, right in contrasts.select("row", "left", "right").rows()
    }
    primary = {settings.feature_set: f"features: {features(settings.feature_set)} (primary)"}
    others = sorted(set(points["panel"]) - set(primary))
    panels = primary | {name: f"features: {features(name)}" for name in others}
    heavy = points.filter(mark="in-sample")["row"].to_list()[:1]
    look: dict[str, Any] = {"spread": 0.0, "heavy_above": heavy, "guide": False}
    grid = st.dot_panels(figure, points, rows, MARKS, panels, **look)
    margin = 100 * settings.equivalence_margin
    for axes, panel in zip(grid, panels, strict=True):
        axes.axvspan(-margin, margin, color=st.GREY, alpha=0.25, linewidth=0, zorder=0)
        axes.axvline(0, color=st.BLACK, linewidth=0.6, zorder=0)
        for row, p in points.filter(panel=panel, mark="tested").select("row", "p_holm").rows():
            at, corner = (1.0, list(rows).index(row) + 0.48), ("axes fraction", "data")
            text = st.written(p, "said_p")
            axes.annotate(text, at, xycoords=corner, ha="right", va="bottom")
    figure.supxlabel(
        f"difference in accuracy, points, with {100 * settings.confidence:g} % interval "
        f"(n = {contrasts['n'][0]} scenarios)"
    )
    used = [mark.handle for name, mark in MARKS.items() if name in set(points["mark"])]
    band = Patch(color=st.GREY, alpha=0.25, linewidth=0, label=f"margin of ± {margin:g} points")
    marks = st.marks_explained(contrasts["left"])
    st.legend_outside(figure, [*used, band, *marks], columns=2)


def main() -> None:
    settings = st.read_with_statistics("significance", st.SignificanceSettings)
    predictions = st.read_main_study()
    tested, development = compare(predictions, settings)
    differences = [*tested, *development]
    contrasts = st.comparisons_table(differences)
    found = st.Estimates.of(st.of_differences(differences))
    repeats = predictions["repeat"].n_unique()
    said = st.Captions.read("significance", settings, numbers(contrasts, repeats, settings))
    sentences = (f"- {sentence(each, settings)}\n" for each in contrasts.iter_rows(named=True))
    row = pl.concat_str("left", "right", separator="/")
    drawn = contrasts.with_columns(value="difference", row=row)
    height = 0.8 + 0.34 * drawn["row"].n_unique()
    st.publish(
        "significance",
        metrics={
            name: st.difference_metrics(
                each for each in kind if each.feature_set == settings.feature_set
            )
            for name, kind in (("contrasts", tested), ("development", development))
        },
        points=contrasts,
        tables=[contrasts_table(contrasts, found, said)],
        sentences={"contrast_sentences": "".join(sentences)},
        figures={"significance": said.picture("figure", height, partial(draw, drawn, settings))},
        summary=contrasts.select(*KEYS, "difference", "p", "p_holm", "p_rope", "n"),
    )


if __name__ == "__main__":
    st.run(main)
