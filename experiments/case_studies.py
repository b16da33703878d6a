"""Stage case_studies: two failing runs picked by rule, their diagnoses, and their remedies."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench import study as st
from failbench.base.telemetry import read_telemetry
from failbench.base.verdicts import CHECKED_IN_ORDER, evidence_of
from failbench.study.run_curves import ONSET_DASHES, logarithmic, mark_steps, run_curves
from shared import case_studies as design
from shared.case_studies import EXPLOSION, MISMATCH, CaseStudiesSettings

MEASURED = Path("data/measurements/case_studies")
TELEMETRY = Path("data/telemetry")

LABELS = {EXPLOSION: "Gradient explosion", MISMATCH: "Vocabulary mismatch"}
LEAVES = ("value", "n", "confidence", "answer", "most_frequent", "most_frequent_share")


def answers(
    cases: pl.DataFrame, diagnoses: pl.DataFrame, predictions: pl.DataFrame
) -> pl.DataFrame:
    """The share of repeats in which methods are right about a case, and their first answers."""
    picked, rows = {case["case"]: case for case in cases.iter_rows(named=True)}, []
    for name, method, answer, confidence in diagnoses.iter_rows():
        case = picked[name]
        asked = {"method": method, "feature_set": st.PRIMARY_SET, "run_id": case["run_id"]}
        stored = predictions.filter(**asked).sort("repeat")["prediction"]
        if stored.is_empty() or stored[0] != answer:
            place = f"data/predictions/nested_cv/{method}.parquet"
            problem = f"is not what {method} says of {case['run_id']} now, {answer}."
            remedy = "Run `dvc repro nested_cv measure_explanations`."
            raise st.BadInputError(place, "prediction", problem, remedy)
        counts = Counter(stored)
        most = max(counts.values())
        rows.append(
            {
                "case": name,
                "method": method,
                "category": case["category"],
                "value": counts[case["category"]] / len(stored),
                "n": len(stored),
                "confidence": confidence,
                "answer": answer,
                "most_frequent": " or ".join(each for each in st.ANSWERS if counts[each] == most),
                "most_frequent_share": most / len(stored),
            }
        )
    return pl.DataFrame(rows)


def printed(
    paper: st.Reported, named: Mapping[str, tuple[str, str, int]]
) -> Iterator[dict[str, Any]]:
    """What the paper tells of its own case: claims, and which of their numbers, by quantity."""
    for quantity, (_, claim, place) in named.items():
        if claim:
            value = paper.claims[claim].value if claim in paper.claims else ()
            values = value if isinstance(value, tuple) else (value,)
            if place >= len(values):
                file, remedy = "data/reported/paper.yaml", "Restore it from the original."
                problem = f"is missing or has fewer than {place + 1} numbers."
                raise st.BadInputError(file, f"claims.{claim}", problem, remedy)
            yield {"role": "reported", "quantity": quantity, "value": float(values[place])}


COUNTS = ("steps", "model_vocabulary", "highest_token")
ROLES = {"failing": "Failing run", "twin": "Fault removed"}
PRINTED_ERRORS = {MISMATCH: "RuntimeError: CUDA error: device-side assert triggered"}
"""What the paper's case died of, word for word (section 7.3.2)."""


def significant(value: float) -> str:
    """A number with three significant digits, or as many as it has before the point.

    >>> significant(40.714), significant(2847), significant(229784.1), significant(0.15)
    ('40.7', '2847', '2.3e+05', '0.15')
    """
    if abs(value) >= 1e5:
        return f"{value:.2g}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def labelled(roles: Collection[str]) -> dict[str, str]:
    """The failing run, its twin, and the remedies by name."""
    remedies = {role: st.words(role).capitalize() for role in sorted(set(roles) - set(ROLES))}
    return {role: ROLES[role] for role in ROLES if role in roles} | remedies


def case_table(case: str, facts: pl.DataFrame, paper: st.Reported, said: st.Captions) -> st.Table:
    """What the paper tells of its case, beside what was recorded of ours."""
    facts, named = facts.filter(case=case), said.labels(case)
    columns = {"label": "", "reported": "Reported", **labelled(set(facts["role"]))}
    endings = facts.select("role", "outcome", "error").unique().rows()
    body = [{"label": "Outcome", "reported": st.ABSENT} | {role: end for role, end, _ in endings}]
    if any(error is not None for *_, error in endings):
        errors = {role: error or "none" for role, _, error in endings}
        body.append({"label": "Error", "reported": PRINTED_ERRORS.get(case, "none")} | errors)
    found = st.Estimates(facts.select("role", "quantity", "value")).plus(*printed(paper, named))
    for quantity, (label, *_) in named.items():
        form = "count" if quantity in COUNTS else significant
        form = "percent" if quantity == "peak_memory" else form
        shown = {role: found.cell(form, quantity=quantity, role=role) for role in list(columns)[1:]}
        body.append({"label": label, **shown})
    heads = tuple(
        st.Column(label, align="right" if label else "left") for label in columns.values()
    )
    texts = tuple(itemgetter(*columns)(row) for row in body)
    return st.Table(f"case_{case}", heads, texts, said.caption(case), said.notes(case))


CONDITIONS = 3
"""Conditions of a diagnosis that the table shows."""


def evidence_text(method: str, conditions: pl.DataFrame) -> str:
    """The conditions that decide, as words: of what is checked in order the last ones."""
    seen = [evidence_of(row) for row in conditions.sort("position").iter_rows(named=True)]
    seen, texts = [evidence for evidence in seen if evidence.value != ""], []
    last = method in CHECKED_IN_ORDER
    for each in seen[-CONDITIONS:] if last else seen[:CONDITIONS]:
        signal, limit = st.words(each.signal), each.threshold
        if isinstance(each.value, str):
            texts.append(f"error text has “{each.value}”")
        elif math.isnan(each.value):
            texts.append(f"{signal} missing")
        else:
            against = limit if isinstance(limit, str) else significant(limit)
            texts.append(f"{signal} {significant(each.value)} {each.relation} {against}")
    return "; ".join(texts) or st.ABSENT


def answer_text(answer: str, row: Mapping[str, Any]) -> str:
    return st.words(answer) + (" (right)" if answer == row["category"] else "")


def most_frequent(row: Mapping[str, Any]) -> str:
    most = row["most_frequent"].split(" or ")
    text = " or ".join(answer_text(answer, row) for answer in most)
    count = round(row["most_frequent_share"] * row["n"])
    return f"{text}, {count} of {row['n']}" + " each" * (len(most) > 1)


def diagnoses_table(said_of: pl.DataFrame, conditions: pl.DataFrame, said: st.Captions) -> st.Table:
    rows = []
    for row in said_of.to_dicts():
        of_answer = conditions.filter(case=row["case"], method=row["method"])
        right = f"{row['value'] * row['n']:.0f} of {row['n']}"
        answer, sure = answer_text(row["answer"], row), st.written(row["confidence"], "three")
        texts = (LABELS[row["case"]], st.method_label(row["method"]), most_frequent(row), right)
        rows.append((*texts, answer, sure, evidence_text(row["method"], of_answer)))
    return st.sheet("case_diagnoses", rows, said)


SIGNALS = {"loss": "training loss, nats", "gradient_norm": "gradient norm"}
"""What is drawn over the steps: the two signals that the paper tells the cases by."""

NEAR = 0.10
"""A remedy ends near the twin if its last loss is above the twin's by no more than this share."""

MARKS = {
    "twin": st.Mark("twin, fault never switched on", st.TWIN, "s"),
    "failing": st.Mark("failing run", st.LINE, "D"),
    "remedy": st.Mark("failing run with a remedy", st.LINE, "D", "none"),
}


def last_losses(curves: pl.DataFrame, settled_steps: int) -> pl.DataFrame:
    """``role``, ``value`` (mean training loss of its last steps) and ``steps``."""
    last = pl.col("loss").tail(settled_steps).mean().alias("value")
    finite = curves.filter(pl.col("loss").is_finite()).sort("step")
    ends = finite.group_by("role", maintain_order=True).agg(last)
    return ends.join(curves.group_by("role").agg(steps=pl.col("step").max()), on="role")


def numbers(cases: pl.DataFrame, ends: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """Of each case its run, how many could have been picked, and how many remedies end well."""
    named: dict[str, object] = {"conditions": CONDITIONS, "near": NEAR}
    for (name,), ranked in cases.group_by("case"):
        losses = dict(ends[str(name)].select("role", "value").iter_rows())
        remedies = [loss for role, loss in losses.items() if role not in MARKS]
        named[str(name)] = {
            "run": ranked["run_id"][0],
            "candidates": ranked.height,
            "near": sum(loss <= (1 + NEAR) * losses["twin"] for loss in remedies),
            "remedies": len(remedies),
        }
    counts = [part for part in named.values() if isinstance(part, dict)]
    return named | {f"{key}_all": sum(part[key] for part in counts) for key in ("near", "remedies")}


def draw(
    cases: pl.DataFrame,
    curves: pl.DataFrame,
    ends: Mapping[str, pl.DataFrame],
    settled_steps: int,
    figure: Figure,
) -> None:
    """Three panels a case: loss, gradient norm, and the loss that each run ended with."""
    grid = figure.subplots(cases.height, 3, squeeze=False, width_ratios=(1, 1, 0.9))
    for row, case in zip(grid, cases.iter_rows(named=True), strict=True):
        for axes, (signal, label) in zip(row, SIGNALS.items(), strict=False):
            for role, width in (("twin", st.THIN), ("failing", 0.9)):
                drawn = curves.filter(pl.col(signal).is_finite(), case=case["case"], role=role)
                drawn = drawn.sort("step")
                colour = MARKS[role].colour
                axes.plot(drawn["step"], drawn[signal], color=colour, linewidth=width)
            mark_steps(axes, case["onset_step"], case["failure_step"])
            axes.set_ylabel(label)
        logarithmic(row[1])
        row[0].set_title(LABELS[case["case"]], fontweight="bold")
        draw_ends(row[-1], ends[case["case"]])
    for axes in grid[-1][:2]:
        axes.set_xlabel("step")
    grid[-1][-1].set_xlabel(f"loss, last {settled_steps} steps")
    marks = [MARKS[role] for role in ("failing", "twin")]
    handles = [
        *(Line2D([], [], color=mark.colour, label=mark.label) for mark in marks),
        Line2D([], [], color=st.BLACK, linewidth=0.7, linestyle=ONSET_DASHES, label="onset"),
        Line2D([], [], color=st.BLACK, linewidth=0.7, label="failure"),
    ]
    st.legend_outside(figure, handles, columns=4)


def draw_ends(axes: Axes, ends: pl.DataFrame) -> None:
    rows = labelled(ends["role"].to_list())
    is_role, none = pl.col("role").is_in(list(MARKS)), pl.lit(None, dtype=pl.Float64)
    mark = pl.when(is_role).then("role").otherwise(pl.lit("remedy"))
    points = ends.with_columns(row="role", mark=mark, ci_low=none, ci_high=none)
    st.dot_plot(axes, points, rows, MARKS, spread=0.0, scale=1.0)
    steps = dict(ends.select("role", "steps").iter_rows())
    st.beside_rows(axes, "last\nstep", (str(steps[role]) for role in rows))
    axes.margins(x=0.15)
    axes.axvline(ends.filter(role="twin")["value"][0], color=st.TWIN, linewidth=st.THIN, zorder=0)


def main() -> None:
    ranked = st.read_output(MEASURED / "cases.parquet", design.CASE_SCHEMA)
    facts = st.read_output(MEASURED / "facts.parquet", design.FACT_SCHEMA)
    diagnoses = st.read_output(MEASURED / "diagnoses.parquet", design.DIAGNOSIS_SCHEMA)
    conditions = st.read_output(MEASURED / "evidence.parquet", design.EVIDENCE_SCHEMA)
    settings, paper = st.read_section("case_studies", CaseStudiesSettings), st.read_reported()
    predictions = st.read_main_study(diagnoses["method"].unique())
    telemetry = read_telemetry(TELEMETRY)

    cases = ranked.unique("case", keep="first", maintain_order=True)
    said_of = answers(cases, diagnoses, predictions)
    runs = dict(cases.select("case", "run_id").iter_rows())
    of_case = {name: run_curves(telemetry, run_id) for name, run_id in runs.items()}
    curves = pl.concat(
        part.select(pl.lit(name).alias("case"), pl.all()) for name, part in of_case.items()
    )
    ends = {name: last_losses(part, settings.settled_steps) for name, part in of_case.items()}
    said = st.Captions.read("case_studies", settings, numbers(ranked, ends))
    measured = facts.drop_nulls("value").with_columns(n=pl.lit(1))
    drawing = partial(draw, cases, curves, ends, settings.settled_steps)
    st.publish(
        "case_studies",
        metrics={
            "facts": st.nest(measured, "case", "role", "quantity", leaves=("value", "n")),
            "answers": st.nest(said_of, "case", "method", leaves=LEAVES),
        },
        points=curves,
        exact=True,
        tables=[
            *(case_table(case, facts, paper, said) for case in cases["case"]),
            diagnoses_table(said_of, conditions, said),
        ],
        figures={"case_studies": said.picture("figure", 0.4 + 1.45 * cases.height, drawing)},
        summary=said_of.select("case", "method", "answer", "confidence", "value"),
    )


if __name__ == "__main__":
    st.run(main)
