import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
import yaml
from pydantic import BaseModel

from failbench.base.methods import ENTRIES
from failbench.methods.catalogue import method_named
from failbench.statistics.settings import StatisticsSettings
from pipeline import REPOSITORY, attributes, import_closure, records_read, scripts

PARAMS = yaml.safe_load((REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
COMMANDS = REPOSITORY / "src/failbench/cli"
SECTIONS = sorted(section for section, keys in PARAMS.items() if isinstance(keys, dict))

closure_of, attributes_of = cache(import_closure), cache(attributes)


@cache
def readers() -> dict[str, list[tuple[type[BaseModel], Path]]]:
    """By section: the records that it is read into, each with a file whose imports use it."""
    records: dict[str, list[tuple[type[BaseModel], Path]]] = {section: [] for section in SECTIONS}
    for file in (*scripts(), *COMMANDS.glob("*.py")):
        for section, record in records_read(file).items():
            records[section].append((record, file))
    for method in PARAMS["methods"]:
        module = importlib.import_module(f"failbench.methods.{ENTRIES[method].module}")
        for section, record in method_named(method).sections.items():
            records[section].append((record, Path(str(module.__file__))))
    return records


def records_within(record: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield record
    for field in record.model_fields.values():
        waiting = [field.annotation]
        while waiting:
            annotation = waiting.pop()
            waiting += get_args(annotation)
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                yield from records_within(annotation)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_is_read_into_records_that_refuse_unknown_keys_at_every_depth(section):
    assert readers()[section]
    for record, _ in readers()[section]:
        for part in {StatisticsSettings, *records_within(record)}:
            assert part.model_config.get("extra") == "forbid", part.__name__


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_is_used_by_code_that_reads_its_section(section):
    files = {path for _, reader in readers()[section] for path in closure_of(reader)}
    used = {name for path in files for name in attributes_of(REPOSITORY / path)}
    assert set(PARAMS[section]) - used == set()


@pytest.mark.parametrize("section", SECTIONS)
def test_a_study_repeats_no_value_that_studies_share(section):
    """But for a seed, and for the confidence of the paper's intervals, which is the paper's."""
    apart = {"seed", *({"confidence"} if section == "paper_audit" else set())}
    assert section == "statistics" or not set(PARAMS[section]) & set(PARAMS["statistics"]) - apart
