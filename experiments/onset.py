"""Stage onset: whether failures that set in suddenly or gradually have other causes.

What the paper's section 7.4 says of onsets, signs and texts is tested statement by statement. Each
names how its verdict is reached. The rules were fixed with the statements, before any result was
seen, and none of them looks at a figure of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from failbench import study as st
from failbench.features.feature_table import read_features
from recordings import read_recordings
from shared import onset_signs as design
from shared.onset_signs import BANDS, KINDS, READINGS, OnsetSettings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
TEXT = Path("data/predictions/nested_cv/raw_text.parquet")
TEXT_AND_SERIES = Path("data/predictions/nested_cv/raw_telemetry.parquet")

Found = dict[str, Any]
"""Estimates as the metrics hold them: nested scalars."""
Variants = dict[tuple[str, ...], Found]
"""What comes out by band, reading, and number of steps that counts as near."""
Test = Literal["chance", "base", "half", "margin", "gain", "absent"]
Verdict = Literal["holds", "does not hold", "undecided"]


def of(*categories: st.Category) -> pl.Expr:
    """Whether a run's cause is of one of these categories."""
    return pl.col("category").is_in(categories)


GRADUAL = pl.col("onset") == "gradual"
ABRUPT = ~GRADUAL
"""Sudden or without any sign: nothing grew worse for long before the end."""
NAMED = pl.col("named").is_not_null()
NAMED_RIGHT = (pl.col("named") == pl.col("category")).fill_null(value=False)

RULES = {
    "gradual": (GRADUAL, of("optimization", "memory_hardware")),
    "sudden_software": (ABRUPT, of("model_software")),
    "sudden_trigger": (ABRUPT, pl.col("switched_on")),
    "sudden_either": (ABRUPT, of("model_software") | pl.col("switched_on")),
    "norm_above_paper": (pl.col("norm_above_paper"), of("optimization")),
    "norm_above_healthy": (pl.col("norm_above_healthy"), of("optimization")),
    "norm_grew": (pl.col("norm_grew"), of("optimization")),
    "text_named": (NAMED, NAMED_RIGHT),
}
"""Rules of thumb: a sign, and what it is said to point to."""
OF_ONSET = ("gradual", "sudden_software", "sudden_trigger", "sudden_either")
"""The rules whose sign is the kind of onset."""

CLAIMS: dict[str, tuple[str, Test]] = {
    "association": ("7.4", "chance"),
    "gradual": ("7.4", "base"),
    "sudden_software": ("7.4", "base"),
    "sudden_trigger": ("7.4", "base"),
    "sudden_either": ("7.4", "base"),
    "software_sudden": ("3.1", "half"),
    "norm_above_paper": ("7.4", "half"),
    "norm_above_healthy": ("7.4", "half"),
    "norm_grew_elsewhere": ("7.3.1", "absent"),
    "text_wrong": ("7.4", "margin"),
    "corroborated": ("7.4", "gain"),
}
"""The paper's section, and how the statement is decided."""

HOLDS = "probability that this holds of a run of a new scenario, drawn with these categories"
RECALL = "probability that a run of a new scenario of the target shows the sign"
PRECISION = "probability that a run of a new scenario that shows the sign is of the target"


def figures(rows: pl.DataFrame, settings: OnsetSettings, *metrics: st.ValueMetric) -> Found:
    # recorded runs have no repeats and no answers: only the units of resampling are taken of them
    table = rows.with_columns(repeat=pl.lit(0), prediction=pl.lit(st.ABSTAIN))
    intervals = st.scenario_intervals(st.scenario_answers(table), (), settings, metrics)
    return {name: each.model_dump(include={*st.ESTIMATE}) for name, each in intervals.items()}


def shares(rows: pl.DataFrame, counted: Mapping[str, pl.Expr], settings: OnsetSettings) -> Found:
    """Shares of runs that each expression holds of, as means over scenarios."""
    values = {name: st.over_scenarios(rows, holds) for name, holds in counted.items()}
    return figures(rows, settings, *(st.proportion(name, values[name], HOLDS) for name in values))


def indicators(
    rows: pl.DataFrame, rules: Mapping[str, tuple[pl.Expr, pl.Expr]], settings: OnsetSettings
) -> dict[str, Found]:
    """What signs say of their targets: how often they are right, and how often they are shown."""
    metrics: list[st.ValueMetric] = []
    found: dict[str, Found] = {}
    for name, (sign, target) in rules.items():
        by_scenario = rows.group_by("scenario").agg(sign=sign.mean(), target=target.mean())
        base, scenarios = by_scenario.select(pl.col("target").mean(), pl.col("sign").sum()).row(0)
        runs = int(rows.select(sign.sum()).item())
        found[name] = {"base": {"value": base}, "shown_by": {"scenarios": scenarios, "runs": runs}}
        shown, right = st.over_those(rows, sign, target), st.over_those(rows, target, sign)
        metrics.append(st.proportion(f"{name}/recall", shown, RECALL))
        if runs:
            metrics.append(st.proportion(f"{name}/precision", right, PRECISION))
    for path, estimate in figures(rows, settings, *metrics).items():
        name, metric = path.split("/")
        found[name][metric] = estimate
    return found


def association(rows: pl.DataFrame, settings: OnsetSettings) -> Found:
    """How strongly the kind of onset depends on the category, and whether chance would do."""
    kinds = [(pl.col("onset") == kind).mean().alias(kind) for kind in KINDS]
    parts, seeds = st.by_category(rows.group_by(st.UNIT).agg(kinds).sort(st.UNIT))
    values = {}
    for category, part in parts.items():
        cells = np.zeros((part.height, len(parts), len(KINDS)))
        cells[:, list(parts).index(category), :] = part.select(KINDS).to_numpy()
        values[category] = cells
    what = "Cramer's V of category and kind of onset, every scenario counting once"
    cells_of = st.ScenarioValues(values, seeds)
    v = st.ValueMetric("v", cells_of, what, score=st.cramers_v, kind="distance")
    by_scenario = rows.group_by("category", "scenario").agg(kinds).sort("scenario")
    shown, labels = by_scenario.select(KINDS), by_scenario["category"].to_numpy().astype(object)
    rng = np.random.default_rng(settings.seed)
    p, expected = st.permutation_test(shown.to_numpy(), labels, settings.permutations, rng)
    return {**figures(rows, settings, v)["v"], "p": p, "expected": expected}


def sizes(rows: pl.DataFrame) -> Found:
    return {"scenarios": rows["scenario"].n_unique(), "runs": rows.height}


def of_setting(observed: pl.DataFrame, settings: OnsetSettings, by_category: bool = False) -> Found:
    """What is found in the runs of one setting: kinds, their association, rules, false signs."""
    rows = design.with_kind(observed, BANDS[0], settings.near_steps)
    kinds = {kind: pl.col("onset") == kind for kind in KINDS}
    groups = {str(name): rows.filter(category=name) for name in st.CATEGORIES if by_category}
    groups["all"] = rows
    signs = {"signs": pl.col(f"{BANDS[0]}_lead").is_not_null(), "growth": pl.col("norm_grew")}
    false = shares(observed.filter(kind="twin"), signs, settings)
    return {
        "kinds": {name: shares(group, kinds, settings) for name, group in groups.items()},
        "association": association(rows, settings),
        "rules": indicators(rows, RULES, settings),
        "false_signs": false["signs"],
        "false_growth": false["growth"],
        **sizes(rows),
    }


def of_texts(rows: pl.DataFrame, settings: OnsetSettings) -> dict[str, Found]:
    """What error texts say by themselves, of the runs that left one."""
    has_text = pl.col("has_text")
    among = {"named": NAMED, "named_wrong": NAMED & ~NAMED_RIGHT, "shared": pl.col("shared_text")}
    counted: dict[str, pl.Expr] = {"has_text": has_text}
    counted |= {name: pl.when(has_text).then(holds) for name, holds in among.items()}
    found = shares(rows, counted, settings)
    for name, holds in counted.items():
        found[name] |= sizes(rows.filter(holds.fill_null(value=False)))
    return found


def with_answers(rows: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
    """Rows with the mean correctness of two methods, a column each, where runs left a text."""
    by_method = predictions.group_by("run_id", "method").agg(right=st.right().mean())
    correct = by_method.pivot("method", index="run_id", values="right")
    answered = rows.join(correct, on="run_id", how="left")
    for path in (TEXT, TEXT_AND_SERIES):
        if path.stem not in answered.columns or answered[path.stem].null_count():
            problem = "a failing run of the reference setting has no prediction."
            raise st.BadInputError(path, "run_id", problem, "Run `dvc repro raw_telemetry`.")
    return answered.with_columns(
        pl.when("has_text").then(path.stem).alias(path.stem) for path in (TEXT, TEXT_AND_SERIES)
    )


def decided(rows: pl.DataFrame, found: Found, settings: OnsetSettings) -> dict[str, Found]:
    """What was measured of every statement, and the verdict, from the reference setting."""
    software, others = rows.filter(of("model_software")), rows.filter(~of("optimization"))
    sudden = shares(software, {"sudden": ABRUPT}, settings)["sudden"]
    grew = shares(others, {"grew": pl.col("norm_grew")}, settings)["grew"]
    wrong = indicators(rows, {"wrong": (NAMED, ~NAMED_RIGHT)}, settings)["wrong"]
    gains = st.over_scenarios(rows, pl.col(TEXT_AND_SERIES.stem) - pl.col(TEXT.stem))
    what = "mean difference over new scenarios, drawn with these categories"
    gain = st.ValueMetric("gain", gains, what)
    dependence, gained = found["association"], figures(rows, settings, gain)["gain"]
    measured = {
        **{
            name: of_rule(rule, 0.5 if CLAIMS[name][1] == "half" else rule["base"]["value"])
            for name, rule in found["rules"].items()
            if name in CLAIMS
        },
        "association": {**dependence, **sizes(rows), "against": dependence["expected"]},
        "software_sudden": {**sudden, **sizes(software), "against": 0.5},
        "norm_grew_elsewhere": {**grew, **sizes(others), "against": 0.0},
        "text_wrong": of_rule(wrong, settings.equivalence_margin),
        "corroborated": {**gained, **sizes(rows.filter("has_text")), "against": 0.0},
    }
    claims = {}
    for name, (_, test) in CLAIMS.items():
        each = without(measured[name], "expected")
        said = verdict(test, each, settings.equivalence_margin, 1 - settings.confidence)
        claims[name] = {**each, "n": round(each["scenarios"]), "verdict": said}
    return claims


def of_rule(rule: Found, against: float) -> Found:
    """The precision of a rule as what is measured; of what nothing shows anything may be true."""
    precision = rule.get("precision", {"value": 0.0, "ci_low": 0.0, "ci_high": 1.0})
    return {**precision, **rule["shown_by"], "against": against}


def verdict(test: Test, measured: Found, margin: float, alpha: float) -> Verdict:
    """What a measured value says of a statement."""
    if test == "chance":
        return "holds" if measured["p"] < alpha else "undecided"
    if test == "absent":
        return "holds" if measured["value"] == 0 else "does not hold"
    lower, upper = {
        "base": (measured["against"], measured["against"] + margin),
        "half": (0.5, 0.5),
        "margin": (margin, margin),
        "gain": (0.0, margin),
    }[test]
    if measured["ci_low"] > lower:
        return "holds"
    return "does not hold" if measured["ci_high"] < upper else "undecided"


def sensitivity(observed: pl.DataFrame, settings: OnsetSettings) -> Variants:
    steps = sorted({settings.near_steps, *settings.other_near_steps})
    on_kinds = {name: RULES[name] for name in OF_ONSET}
    variants: Variants = {}
    for band, reading, near in product(BANDS, READINGS, steps):
        rows = design.with_kind(observed, band, near, reading)
        found = {"association": association(rows, settings)}
        found["rules"] = indicators(rows, on_kinds, settings)
        variants[band, reading, f"{near}"] = found
    return variants


def numbers(
    found: Found, variants: Variants, rows: pl.DataFrame, settings: OnsetSettings
) -> dict[str, object]:
    alpha = round(1 - settings.confidence, 6)
    main = (BANDS[0], READINGS[0], f"{settings.near_steps}")
    others = [variant for key, variant in variants.items() if key != main]
    rules = [variant["rules"]["gradual"] for variant in others]
    held = [of_rule(rule, rule["base"]["value"]) for rule in rules]
    gradual = [verdict("base", each, settings.equivalence_margin, alpha) for each in held]
    verdicts = [each["verdict"] for each in found["claims"].values()]
    return {
        "head": design.HEAD_STEPS,
        **sizes(rows),
        "seeds": rows["seed"].n_unique(),
        "below": settings.wilson_below - 1,
        "drawn": f"{settings.permutations:,}",
        "alpha": alpha,
        "others": len(others),
        "associated": sum(each["association"]["p"] < alpha for each in others),
        "gradual_holds": gradual.count("holds"),
        "gradual_fails": gradual.count("does not hold"),
        "statements": len(verdicts),
        "held": verdicts.count("holds"),
        "refuted": verdicts.count("does not hold"),
        **{
            name: st.percent(rule["precision"]["value"]) if "precision" in rule else st.ABSENT
            for name, rule in found["rules"].items()
        },
    }


ROW_LABELS: dict[str, str] = {**st.CATEGORY_LABELS} | {"all": "All"}


def cell(row: Found, path: str, form: str) -> str:
    """What is at a path of a row's nested estimates: an estimate, a number, or words."""
    found = st.at_path(row, path)
    if found is None or isinstance(found, str):
        return st.ABSENT if found is None else found
    write = scenarios if form == "scenarios" else form
    one = isinstance(found, dict)
    return st.estimate_text(found, write) if one else st.written(found, write)


def tables(
    found: Found,
    everywhere: Mapping[st.RunSetting, Found],
    variants: Variants,
    rows: pl.DataFrame,
    said: st.Captions,
) -> Iterator[st.Table]:
    """The statements first, then kinds, rules of thumb, settings, other definitions, and texts."""

    def beside_base(rule: Found) -> str:
        precision = st.estimate_text(rule["precision"]) if "precision" in rule else st.ABSENT
        return f"{precision} / {st.percent(rule['base']['value'])}"

    groups = {name: rows.filter(category=name) for name in st.CATEGORIES} | {"all": rows}
    labels = {name: said.labels(f"onset_{name}").items() for name in ("rules", "texts")}
    bodies: dict[str, Iterable[Found]] = {
        "claims": (
            claim
            | {"said": said.text("statements", name), "measured": said.text("measured", name)}
            | decision(claim, *CLAIMS[name])
            for name, claim in found["claims"].items()
        ),
        "kinds": (
            {"category": ROW_LABELS[name], **found["kinds"][name], **sizes(part), **timing(part)}
            for name, part in groups.items()
        ),
        "rules": (
            found["rules"][name] | {"sign": sign, "target": target}
            for name, (sign, target) in labels["rules"]
        ),
        "settings": (
            {name: beside_base(rule) for name, rule in each["rules"].items()}
            | each
            | {
                "setting": st.ARCHITECTURE_LABELS[setting.architecture]
                + ("" if setting.optimizer == "adamw" else ", SGD")
            }
            for setting, each in everywhere.items()
        ),
        "variants": (
            variant | dict(zip(("band", "by", "near"), key, strict=True))
            for key, variant in variants.items()
        ),
        "texts": ({"of": label, "share": found["texts"][name]} for name, label in labels["texts"]),
    }

    for name, body in bodies.items():
        columns = said.columns(f"onset_{name}")
        shown = [(each.pop("path"), each.pop("form", "percent")) for each in columns]
        looks = [
            st.Column(**each, align="left" if form == "words" else "right")
            for each, (_, form) in zip(columns, shown, strict=True)
        ]
        texts = ([cell(row, *part) for part in shown] for row in body)
        yield st.sheet(f"onset_{name}", texts, said, columns=looks)


def scenarios(value: float) -> str:
    """A count of scenarios, of which some runs may count only in part: ``3`` or ``3.3``."""
    return f"{value:.0f}" if value == round(value) else st.written(value, "one")


def decision(claim: Found, section: str, test: Test) -> Found:
    form = "two" if test == "chance" else "percent"
    p = f", p {st.written(claim['p'], 'p')}" if test == "chance" else ""
    reference = st.written(claim["against"], form) + p
    return {"section": section, "estimate": st.estimate_text(claim, form), "reference": reference}


def timing(rows: pl.DataFrame) -> Found:
    """When signs come; of faults that are switched on in mid-run, how many come before that."""
    signs = rows.filter("switched_on").drop_nulls("lead")
    before = signs.filter(pl.col("lead") > pl.col("since_onset")).height
    found = {"before": f"{before} of {signs.height}" if signs.height else st.ABSENT}
    for column in ("lead", "since_onset"):
        known = rows[column].drop_nulls().to_numpy()
        quartiles = np.quantile(known, (0.5, 0.25, 0.75)) if len(known) else ()
        row = dict(zip(st.ESTIMATE, quartiles, strict=False))
        found[column] = st.estimate_text(row, "count") if row else st.ABSENT
    return found


MARKS = {
    "base": st.Mark("share of all scenarios", st.BLACK, "|", size=9.0),
    "precision": st.Mark("share of those with the sign", st.VERMILLION, "D"),
}


def draw(points: pl.DataFrame, rules: Mapping[str, str], figure: Figure) -> None:
    """What the original's rules of thumb reach, beside the share without any sign."""
    axes, drawn = figure.subplots(), points.filter(panel="rules")
    st.dot_plot(axes, drawn, rules, MARKS, spread=0.0, heavy_above=("norm_above_paper",))
    axes.set(xlim=(0, 100), xlabel="scenarios of what the sign points to, percent, with interval")
    st.legend_outside(figure, MARKS.values(), columns=2)


def settings_of(failing: pl.DataFrame, reference: st.ReferenceStudy) -> list[st.RunSetting]:
    """The settings of which failing runs are recorded, that of the reference study first."""
    rows = failing.select(*st.RunSetting.model_fields).unique().to_dicts()
    recorded = [st.RunSetting(**row) for row in rows]
    if reference.name not in {setting.name for setting in recorded}:
        problem = f"no failing run of {reference.name} is recorded."
        remedy = "Name a setting of record.settings."
        raise st.BadInputError("params.yaml", "nested_cv.architecture", problem, remedy)
    return sorted(recorded, key=lambda setting: (setting.name != reference.name, setting.name))


def without(found: Found, *keys: str) -> Found:
    return {key: value for key, value in found.items() if key not in keys}


def main() -> None:
    said = st.Captions.read("onset")
    settings = st.read_with_statistics("onset", OnsetSettings)
    simple = st.read_section("simple_rules", st.SimpleRulesSettings)
    reference = st.read_section("nested_cv", st.ReferenceStudy)
    features = read_features()
    both = (st.read_output(path, st.PREDICTION_SCHEMA) for path in (TEXT, TEXT_AND_SERIES))
    predictions = pl.concat(both).filter(feature_set=st.PRIMARY_SET)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    failing = telemetry.runs.filter(kind="failure")
    recorded = settings_of(failing, reference)
    observed = {}
    for setting in recorded:
        part = telemetry.select(pl.all_horizontal(pl.col(name) == value for name, value in setting))
        observed[setting] = design.observed_runs(part, scenarios, features, settings, simple)
    first = recorded[0]
    observed[first] = observed[first].filter(pl.col("seed").is_in(reference.run_seeds))
    rows = design.with_kind(observed[first], BANDS[0], settings.near_steps)
    variants = sensitivity(observed[first], settings)
    everywhere = {
        setting: of_setting(table, settings, by_category=setting == first)
        for setting, table in observed.items()
    }
    found: Found = {
        **without(everywhere[first], "scenarios", "runs"),
        "claims": decided(with_answers(rows, predictions), everywhere[first], settings),
        "texts": of_texts(rows, settings),
        "settings": {
            setting.name: without(each, "scenarios", "runs", "kinds", "false_growth")
            for setting, each in everywhere.items()
        },
        "variants": {"_".join(key): variant for key, variant in variants.items()},
    }
    successes = [setting.of(telemetry.runs).filter(kind="success").height for setting in recorded]
    named = {
        **numbers(found, variants, rows, settings),
        "simple": simple.model_dump(),
        "setting": first.name,
        "successes": successes[0],
        "fewest": min(successes),
        "most": max(successes),
        "repeats": predictions["repeat"].n_unique(),
        "scale": st.scale_of(first.of(failing)),
        "scale_everywhere": st.scale_of(failing),
    }
    said = said.with_numbers(found, settings, named)
    # shares of kinds by category, and precision and base rate of each rule
    drawn = (("kinds", ROW_LABELS, KINDS), ("rules", RULES, ("base", "precision")))
    rows_drawn = [
        {"panel": panel, "row": row, "mark": mark, **found[panel][row][mark]}
        for panel, names, marks in drawn
        for row, mark in product(names, marks)
        if mark in found[panel][row]
    ]
    points = st.rounded(pl.DataFrame(rows_drawn).drop("n"))
    drawing = partial(draw, points, said.labels("figure"))
    claims = [{"claim": name, **claim} for name, claim in found["claims"].items()]
    st.publish(
        "onset",
        metrics={**found, "texts": {k: without(v, "runs") for k, v in found["texts"].items()}},
        points=points,
        tables=tables(found, everywhere, variants, rows, said),
        figures={"onset": said.picture("figure", 1.9, drawing)},
        summary=pl.DataFrame(claims).select("claim", "value", "ci_low", "ci_high", "verdict"),
    )


if __name__ == "__main__":
    st.run(main)
