"""Stage agreement: how often two methods give a run the same answer, right or wrong."""

from functools import partial
from itertools import combinations

import polars as pl
from matplotlib.figure import Figure

from failbench.base.records import Record
from failbench.base.stage import read_section
from failbench.statistics.intervals import nest
from failbench.study.captions import Captions
from failbench.study.estimates import Estimates
from failbench.study.inputs import read_main_study
from failbench.study.labels import in_label_order, label_inside, method_label
from failbench.study.publication import publish, run
from failbench.study.tables import Of, Row, Text, n_of, table

POINTS_SCHEMA = pl.Schema(
    {"left": pl.String, "right": pl.String, "value": pl.Float64, "n": pl.Int64}
)


class AgreementSettings(Record):
    """Whose answers are compared; the section ``agreement`` of params.yaml."""

    feature_set: str
    left_out: tuple[str, ...] = ()


def estimates(predictions: pl.DataFrame, settings: AgreementSettings) -> pl.DataFrame:
    """Share of runs that two methods answer alike, mean over repeats, of every two methods."""
    asked = predictions.filter(
        pl.col("feature_set") == settings.feature_set, ~pl.col("method").is_in(settings.left_out)
    )
    answers = asked.pivot("method", index=["repeat", "run_id", "scenario"], values="prediction")
    rows = []
    for left, right in combinations(sorted(set(asked["method"])), 2):
        both = answers.drop_nulls([left, right])
        alike = both.group_by("repeat").agg(value=(pl.col(left) == pl.col(right)).mean())
        rows.append((left, right, alike["value"].mean(), both["scenario"].n_unique()))
    return pl.DataFrame(rows, schema=POINTS_SCHEMA, orient="row")


def draw(points: pl.DataFrame, figure: Figure) -> None:
    methods = in_label_order([*points["left"], *points["right"]])
    shares = {(left, right): value for left, right, value, _ in points.iter_rows()}
    shares |= {(right, left): value for (left, right), value in shares.items()}
    axes = figure.subplots()
    cells = [[shares.get((row, column), 1.0) for column in methods] for row in methods]
    axes.pcolormesh(cells, vmin=0.0, vmax=1.0, cmap="Greys")
    centres = [position + 0.5 for position in range(len(methods))]
    labels = [method_label(method) for method in methods]
    axes.set_xticks(centres, labels, rotation=90)
    axes.set_yticks(centres, labels)
    axes.invert_yaxis()


def main() -> None:
    found = Estimates.of(estimates(read_main_study(), read_section("agreement", AgreementSettings)))
    pairs = found.frame.sort("value", "left", "right", descending=[True, False, False])
    most = pairs.row(0, named=True)
    one, other = label_inside(most["left"]).capitalize(), label_inside(most["right"])
    said = Captions.read("agreement", {"one": one, "other": other, "most": most["value"]})
    rows = [
        Row((method_label(left), method_label(right)), {"left": left, "right": right})
        for left, right in pairs.select("left", "right").rows()
    ]
    columns = [Text("Method"), Text("Other method"), Of("", "Same answer"), n_of("")]
    publish(
        "agreement",
        metrics=nest(found.frame, "left", "right", leaves=("value", "n")),
        points=found.frame,
        tables=[table("agreement", found, columns, rows, said)],
        figures={"agreement": said.picture("figure", 4.6, partial(draw, found.frame))},
        summary=found.frame,
    )


if __name__ == "__main__":
    run(main)
