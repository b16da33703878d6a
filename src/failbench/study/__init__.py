"""What a study is written in: estimates, tables and captions as data, and their publication."""

from failbench.study.captions import Captions, at_path
from failbench.study.estimates import (
    Estimates,
    estimate_text,
    of_differences,
    of_groups,
    of_scenarios,
    over_folds,
    reported,
    rounded,
)
from failbench.study.forms import FORMS, Form, written
from failbench.study.inputs import read_facts, read_main_study, read_metrics, read_reported
from failbench.study.publication import publish, publish_estimates, run
from failbench.study.tables import Of, Row, Text, n_of, rows, table

__all__ = [
    "FORMS",
    "Captions",
    "Estimates",
    "Form",
    "Of",
    "Row",
    "Text",
    "at_path",
    "estimate_text",
    "n_of",
    "of_differences",
    "of_groups",
    "of_scenarios",
    "over_folds",
    "publish",
    "publish_estimates",
    "read_facts",
    "read_main_study",
    "read_metrics",
    "read_reported",
    "reported",
    "rounded",
    "rows",
    "run",
    "table",
    "written",
]
