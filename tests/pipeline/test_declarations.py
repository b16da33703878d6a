import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
import yaml
from pydantic import BaseModel

import pipeline
from failbench.base.methods import ENTRIES
from failbench.methods.catalogue import method_named
from failbench.statistics.settings import StatisticsSettings

STAGES = pipeline.stages()
REPRODUCED = {name: stage for name, stage in STAGES.items() if name != "record"}
REPORTS = [name for name, stage in REPRODUCED.items() if f"paper/tables/{name}" in stage.outputs]
DESCRIBING_METHODS = {"benchmark", "crash_prediction", "equal_code", "external_default", "onset"}
"""Reports that show what methods are made of, or replay what models answered."""


def related(path: str, other: str) -> bool:
    """Whether one path is the other, or one of its parents."""
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")


def instances() -> list[str]:
    """What DVC calls each stage, with each item of those that have some."""
    return [
        f"{stage.target}@{item}" if item else stage.target
        for name, stage in STAGES.items()
        for item in pipeline.foreach_items().get(name, [""])
    ]


def items_of(name: str, path: str) -> list[str]:
    return [path.replace("${item}", item) for item in pipeline.foreach_items().get(name, [""])]


BY_BENCHMARK = {"paper/tables/cost.csv", "paper/tables/cost.md", "paper/tables/million.csv"}
"""What `make cost` and `make million` measured: no stage of the pipeline is about speed."""


def test_every_script_is_a_stage_of_its_name_and_every_stage_a_script():
    assert {script.stem for script in pipeline.scripts()} == set(STAGES)
    for name, stage in STAGES.items():
        assert f"experiments/{name}.py" in stage.body["cmd"]


def test_dvc_reads_the_same_stages():
    listed = subprocess.run(
        [sys.executable, "-m", "dvc", "stage", "list", "--name-only"],
        cwd=pipeline.REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(listed.stdout.split()) == set(instances())


@pytest.mark.parametrize("name", REPRODUCED)
def test_what_a_script_imports_lies_in_the_rooms_that_it_names(name):
    stage = STAGES[name]
    needed = set(pipeline.code_dependencies(pipeline.import_closure(stage.script)))
    assert needed <= stage.code
    assert stage.of_form or needed == stage.code


@pytest.mark.parametrize("name", REPORTS)
def test_a_figure_depends_on_nothing_that_fits(name):
    rooms = {"prediction", "recording"}
    if name not in DESCRIBING_METHODS:
        rooms.add("methods")
    closure = pipeline.import_closure(STAGES[name].script)
    assert not {
        path for path in closure for room in rooms if pipeline.holds(f"src/failbench/{room}", path)
    }


@pytest.mark.parametrize("name", REPRODUCED)
def test_parameters_declared_are_those_read(name):
    stage = STAGES[name]
    parameters, computed = pipeline.parameters_read(stage.script)
    assert parameters <= stage.params
    assert stage.of_form or stage.params - {"${item}"} == parameters
    assert ("${item}" in stage.params) == computed


@pytest.mark.parametrize("name", REPRODUCED)
def test_paths_that_a_script_names_are_those_that_are_declared(name):
    stage = STAGES[name]
    named = pipeline.paths_named(stage.script)
    declared = {path.replace("${item}", "@") for path in {*stage.deps, *stage.outputs}}
    assert [path for path in named if not any(related(path, other) for other in declared)] == []
    written = stage.outputs
    if study := pipeline.published_study(stage.script):
        assert study == name
        written = {path for path in written if not path.startswith(pipeline.PUBLISHED)}
    needed = {path.replace("${item}", "@") for path in {*stage.inputs, *written}}
    known = {*named, *stage.code}
    assert [path for path in needed if not any(related(path, other) for other in known)] == []


def test_everything_that_people_look_at_is_the_output_of_one_stage():
    written = [path for stage in STAGES.values() for path in stage.outputs]
    text = {str(path) for path in STAGES["paper"].deps if path.startswith("paper/")}
    by_hand = {"figures/matplotlibrc", *BY_BENCHMARK, *pipeline.tracked(*text - {"paper/tables"})}
    published = set(pipeline.tracked(*pipeline.PUBLISHED)) - by_hand
    assert {
        path for path in published if sum(related(path, other) for other in written) != 1
    } == set()


def test_record_is_frozen_and_has_nothing_but_outputs_that_are_kept():
    record = STAGES["record"]
    assert record.body["frozen"] is True
    assert not record.deps
    assert not record.params
    assert all(options.get("persist") for options in record.outputs.values())


@pytest.fixture(scope="module")
def committed() -> set[str]:
    """Every tracked file, and every folder that holds one."""
    files = pipeline.tracked()
    return {*files, *(parent.as_posix() for file in files for parent in Path(file).parents)}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_says_what_it_is_reads_what_is_there_and_commits_what_it_writes(name, committed):
    stage = STAGES[name]
    assert stage.body["desc"].endswith(".")
    assert {path for path in stage.deps if not (pipeline.REPOSITORY / path).exists()} == set()
    assert all(options.get("cache") is False for options in stage.outputs.values())
    for path in [path for template in stage.outputs for path in items_of(name, template)]:
        assert path in committed, f"{path} is not tracked: git add it."
    metrics = {path for path in stage.outputs if path.startswith("data/metrics/")}
    assert metrics <= {f"data/metrics/{name}.json", f"data/metrics/{name}/${{item}}.json"}


def test_parameter_sections_are_all_read_by_some_stage():
    declared = yaml.safe_load((pipeline.REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
    read = {name.split(".")[0] for stage in STAGES.values() for name in stage.params}
    items = {item for names in pipeline.foreach_items().values() for item in names}
    lists = {section for section, value in declared.items() if isinstance(value, list)}
    assert set(declared) == (read - {"${item}"}) | items | lists


PUBLIC = {"monitor/__init__.py", "study/__init__.py"}
"""Packages that people import from by their own name."""


def test_other_package_markers_are_empty_so_that_closures_stay_narrow():
    package = pipeline.REPOSITORY / "src/failbench"
    for path in package.rglob("__init__.py"):
        public = path.relative_to(package).as_posix() in PUBLIC
        assert public or path.read_text(encoding="utf-8") == "", f"{path} must stay empty."


def test_the_lock_holds_the_stages_of_the_pipeline_and_no_others():
    """DVC reads and writes the whole lock at every stage, and takes no stage out of it."""
    locked = yaml.safe_load((pipeline.REPOSITORY / "dvc.lock").read_text(encoding="utf-8"))[
        "stages"
    ]
    idle = sorted(set(locked) - set(instances()))
    assert not idle, f"Take out of dvc.lock: {', '.join(idle)}"


def test_the_committed_lock_is_up_to_date():
    result = subprocess.run(
        [sys.executable, "-m", "dvc", "status", "--json"],
        cwd=pipeline.REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {}, "Run `dvc repro` and commit what it writes."


PARAMS = yaml.safe_load((pipeline.REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
COMMANDS = pipeline.REPOSITORY / "src/failbench/cli"
SECTIONS = sorted(section for section, keys in PARAMS.items() if isinstance(keys, dict))

closure_of, attributes_of = cache(pipeline.import_closure), cache(pipeline.attributes)


@cache
def readers() -> dict[str, list[tuple[type[BaseModel], Path]]]:
    """By section: the records that it is read into, each with a file whose imports use it."""
    records: dict[str, list[tuple[type[BaseModel], Path]]] = {section: [] for section in SECTIONS}
    for file in (*pipeline.scripts(), *COMMANDS.glob("*.py")):
        for section, record in pipeline.records_read(file).items():
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
    used = {name for path in files for name in attributes_of(pipeline.REPOSITORY / path)}
    assert set(PARAMS[section]) - used == set()


@pytest.mark.parametrize("section", SECTIONS)
def test_a_study_repeats_no_value_that_studies_share(section):
    """But for a seed, and for the confidence of the paper's intervals, which is the paper's."""
    apart = {"seed", *({"confidence"} if section == "paper_audit" else set())}
    assert section == "statistics" or not set(PARAMS[section]) & set(PARAMS["statistics"]) - apart
