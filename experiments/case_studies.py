"""Stage case_studies: two failing runs picked by rule, what was said of them, and what helped."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import (
    DecisionTreeSettings,
    LightgbmSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
)
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.learned_rules import LearnedRulesSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.run_curves import run_curves
from failbench.reporting.style import save_svg
from failbench.scenarios import read_scenarios
from failbench.studies.case_studies.cases import CaseStudiesSettings
from failbench.studies.case_studies.figure import draw_case_studies
from failbench.studies.case_studies.measure import case_metrics, case_studies
from failbench.studies.case_studies.tables import case_table, diagnoses_table
from failbench.telemetry import read_telemetry
from stage import print_table, read_output, read_section, run, workers, write_metrics

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
PREDICTIONS = Path("data/predictions/nested_cv")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/case_studies.json")
POINTS = Path("data/plots/case_studies.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/case_studies.svg")


def main() -> None:
    settings = read_section("case_studies", CaseStudiesSettings)
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "learned_rules": read_section("learned_rules", LearnedRulesSettings),
        "logistic_regression": read_section("logistic_regression", LogisticRegressionSettings),
        "decision_tree": read_section("decision_tree", DecisionTreeSettings),
        "random_forest": read_section("random_forest", RandomForestSettings),
        "lightgbm": read_section("lightgbm", LightgbmSettings),
        "ebm": read_section("ebm", EbmSettings),
    }
    telemetry = read_telemetry(TELEMETRY)
    found = case_studies(
        telemetry,
        read_scenarios(SCENARIOS),
        read_output(FEATURES),
        read_output(SPLITS),
        pl.concat(read_output(path) for path in sorted(PREDICTIONS.glob("*.parquet"))),
        read_section("nested_cv", ReferenceStudy),
        methods,
        settings,
        workers(),
    )
    write_metrics(METRICS, case_metrics(found))
    curves = {case.name: run_curves(telemetry, case.run_id) for case in found.cases}
    points = pl.concat(
        part.select(pl.lit(name).alias("case"), pl.all()) for name, part in curves.items()
    )
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    for case in found.cases:
        table = case_table(
            found,
            case,
            reported,
            growth=settings.smallest_growth,
            settled_steps=settings.settled_steps,
        )
        write_table(table, TABLES)
    write_table(diagnoses_table(found), TABLES)
    mpl.rc_file("figures/matplotlibrc")
    save_svg(draw_case_studies(found.cases, curves), FIGURE)
    print_table(
        ("case", "method", "answer", "confidence", "right"),
        [
            (one.case, one.method, one.diagnosis.category, one.diagnosis.confidence, one.right)
            for one in found.diagnoses
        ],
    )


if __name__ == "__main__":
    run(main)
