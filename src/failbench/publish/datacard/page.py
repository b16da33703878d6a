"""Page: the data card in markdown, with what is counted from the data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from string import Template

import numpy as np
import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.telemetry import KINDS, Telemetry
from failbench.base.vocabulary import CATEGORIES, DIFFICULTIES
from failbench.publish.datacard.main_tables import (
    DATA,
    Citation,
    Entry,
    MainTable,
    Statements,
    declared,
)
from failbench.study.labels import REPLACED
from failbench.study.tables import Column, Table, markdown

MILLION = 1e6
SETTING = ("architecture", "optimizer", "scale")


def facts(telemetry: Telemetry, scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Numbers of the recorded runs that sentences of the card name, as they are printed."""
    runs = telemetry.runs
    parameters = runs["parameters"].drop_nulls().to_numpy() / MILLION

    def of_all(column: str) -> str:
        return ", ".join(map(str, runs[column].drop_nulls().unique().sort()))

    return {
        "runs": f"{runs.height:,}",
        "steps": f"{telemetry.steps.height:,}",
        "failures": f"{runs.filter(kind='failure').height:,}",
        "scenarios": str(len(scenarios)),
        "unknown": str(sum(scenario.category == "unknown" for scenario in scenarios)),
        "replaced": str(len(REPLACED)),
        "replacements": ", ".join(f"{old} by {new}" for old, new in REPLACED.items()),
        "settings": str(runs.select(SETTING).unique().height),
        "parameters_low": f"{parameters.min():.2f}",
        "parameters_median": f"{np.median(parameters):.2f}",
        "parameters_high": f"{parameters.max():.0f}",
        "planned_low": str(runs["planned_steps"].min()),
        "planned_high": str(runs["planned_steps"].max()),
        "layers": of_all("layers"),
        "vocabulary": of_all("tokenizer_vocabulary"),
        "python_version": of_all("python_version"),
        "torch_version": of_all("torch_version"),
    }


def page(
    citation: Citation,
    statements: Statements,
    facts: Mapping[str, str],
    main_tables: Sequence[MainTable],
    counted: Mapping[str, str],
    dictionary: Iterable[Entry],
) -> str:
    """The data card; ``counted`` has :func:`runs_by_setting` and :func:`scenarios_by_category`."""
    said = {
        name: value if isinstance(value, str) else "\n".join(f"- {each}" for each in value)
        for name, value in statements.model_dump().items()
    }
    return Template(declared("card.md")).substitute(
        {
            **facts,
            **said,
            **counted,
            "title": citation.title,
            "version": citation.version,
            "abstract": citation.abstract,
            "tables": _overview(main_tables),
            "columns": "\n\n".join(_columns(main_tables)),
            "files": "\n\n".join(_folders(dictionary)),
        }
    )


def _table(
    caption: str, left: Sequence[str], right: Sequence[str], rows: Iterable[Iterable[str]]
) -> str:
    columns = [*(Column(name, align="left") for name in left), *map(Column, right)]
    cells = tuple(map(tuple, rows))
    return markdown(Table("data_card", tuple(columns), cells, caption)).strip()


def runs_by_setting(runs: pl.DataFrame) -> str:
    """How many runs of each kind were recorded in each setting."""
    counts = runs.group_by(*SETTING, "kind").len().pivot("kind", index=SETTING, values="len")
    counts = counts.fill_null(0).sort("optimizer", "scale", "architecture")
    kinds = [kind for kind in KINDS if kind in counts.columns]
    rows = [
        (*(row[name] for name in SETTING), *(f"{row[kind]:,}" for kind in kinds))
        for row in counts.rows(named=True)
    ]
    return _table("Runs by setting and kind.", SETTING, kinds, rows)


def scenarios_by_category(runs: pl.DataFrame, scenarios: Sequence[Scenario]) -> str:
    """What each category has: scenarios by difficulty, failing runs, and their outcomes."""
    category = {scenario.id: scenario.category for scenario in scenarios}
    of_scenario = pl.col("scenario").replace_strict(category, return_dtype=pl.String)
    failures = runs.filter(kind="failure").with_columns(category=of_scenario)
    outcomes = sorted(failures["outcome"].unique())
    rows = []
    for name in CATEGORIES:
        levels = [scenario.difficulty for scenario in scenarios if scenario.category == name]
        recorded = failures.filter(category=name)["outcome"].to_list()
        by_level, by_outcome = map(levels.count, DIFFICULTIES), map(recorded.count, outcomes)
        counts = (len(levels), *by_level, len(recorded), *by_outcome)
        rows.append((name, *(f"{count:,}" for count in counts)))
    caption = "Scenarios by category and declared difficulty, and their failing runs by outcome."
    headings = ["scenarios", *DIFFICULTIES, "failing runs", *outcomes]
    return _table(caption, ["category"], headings, rows)


def _overview(tables: Sequence[MainTable]) -> str:
    rows = [
        (
            table.name,
            table.pattern,
            ", ".join(table.key),
            f"{len(table.files):,}",
            f"{table.rows:,}",
            f"{sum(file.size for file in table.files) / MILLION:.2f}",
        )
        for table in tables
    ]
    left = ("table", "files", "key of a row")
    return _table("The tables that a reader starts from.", left, ("files", "rows", "MB"), rows)


def _columns(tables: Sequence[MainTable]) -> Iterator[str]:
    for _, group in groupby(tables, key=lambda table: table.described_as):
        alike = list(group)
        names = " and ".join(f"`{table.name}`" for table in alike)
        contents = "; ".join(f"`{table.name}`: {table.content}" for table in alike)
        described = _table(
            f"Key of a row: {', '.join(alike[0].key)}.",
            ("column", "type", "unit", "what it contains"),
            (),
            [(each.name, each.stored, each.unit, each.description) for each in alike[0].columns],
        )
        yield f"### {names}\n\n{contents}.\n\n{described}"


def _folders(dictionary: Iterable[Entry]) -> Iterator[str]:
    folders: dict[str, list[Entry]] = {}
    for entry in sorted(dictionary, key=lambda entry: entry.path):
        if entry.path.startswith(DATA):
            inner = entry.path.removeprefix(DATA)
            folders.setdefault(inner.split("/")[0] if "/" in inner else "", []).append(entry)
    for folder, entries in folders.items():
        rows = [(entry.path, entry.content, entry.key) for entry in entries]
        headings = ("file", "what it is", "key of a row")
        yield _table(f"Files of {DATA}{folder}.", headings, (), rows)
