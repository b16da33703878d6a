"""Every way in which the walk breaks a copy of what a stage reads, and what the stage answers."""

import contextlib
import io
import json
import os
import runpy
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import yaml
from repository_copy import write_params_of_fewer_draws

from benchmark import DIFFICULTY_SCHEMA
from crosswalk import CONDITIONS, predictions_schema
from failbench.base.known_columns import COURSE_KEYS, KNOWN_OF_RUN
from failbench.base.methods import MONITOR_METHODS
from failbench.base.records import kept_by_hand
from failbench.base.studies import LANGUAGE_MODELS, across_architectures_files, prediction_files
from failbench.publish.page.failure import LOG_SCHEMA
from human_baseline import SCENARIO_SCHEMA, SHARE_SCHEMA
from monitor import METHODS as MONITOR_STUDY
from negative_results import DECLARED, RETIRED
from pipeline import REPOSITORY, Stage, foreach_items, paths_named, published_study, stages
from shared.lead_time import methods_asked
from shared.negative_results import NegativeResults
from shared.peers import BREAKS, LOG_ANSWERS

GARBAGE = b"\x93\x00 not what it should be \xff\n\x01"
MAIN_STUDY = "data/predictions/nested_cv"
ACROSS_ARCHITECTURES = "data/predictions/across_architectures"
EMPTY_WHERE_NOBODY_WAS_ASKED = {
    f"{MAIN_STUDY}/{LANGUAGE_MODELS}.parquet",
    "data/measurements/llm_agents/explanations.parquet",
    "data/field/looks.csv",  # before a look there is none, nor an answer
    "data/field/test/answers.parquet",
    "data/peers/outside.parquet",
}
KNOWN = "data/features/known.parquet"
"""Read where a method of the stage reads what the monitor knows, and not opened elsewhere."""

READ_IN_PART = {
    **{
        (stage, KNOWN): pl.Schema({**COURSE_KEYS, **KNOWN_OF_RUN})
        for stage in stages()  # flags are those that are there
    },
    ("benchmark", "data/measurements/difficulty/scenarios.parquet"): DIFFICULTY_SCHEMA,
    ("human_baseline", "data/measurements/difficulty/scenarios.parquet"): SCENARIO_SCHEMA,
    ("page", "data/measurements/diagnose_logs/answers.parquet"): LOG_SCHEMA,
    ("peers", "data/measurements/diagnose_logs/answers.parquet"): LOG_ANSWERS,
    ("peers", "data/measurements/invariants/verdicts.parquet"): BREAKS,
    ("human_baseline", "data/measurements/difficulty/shares.parquet"): SHARE_SCHEMA,
    **{
        ("crosswalk", f"data/predictions/{condition.predictions}/{method}.parquet"): (
            predictions_schema(condition.predictions)
        )
        for condition in CONDITIONS.values()
        for method in condition.methods
    },
}
"""By stage and file the columns that are read, where these are a few of what is there."""

ASKED = {"crash_prediction": ("crash_agents", "data/llm/crashes")}
"""Sections that name language models, and folders of their answers, of stages with their own."""

VERSIONS = "data/monitor/versions"
OF_LAST_VERSION = {
    *("known", "measure_llm_agents", "measure_diagnose_logs"),
    *("measure_learners", "measure_budget", "page"),
}
"""Stages that read the last of the versions that judge what was recorded."""

READ_FOR_ALL = {
    "data/metrics": "intervals.json", "figures": "twin.svg", "paper/appendix": "appendix.typ",
    "paper/lib": "metrics.typ", "paper/sections": "05-results.typ",
    "paper/tables": "crosswalk/crosswalk.typ",
}  # fmt: skip
"""Of the paper, which names hundreds of files of a few forms, the one that is broken for all."""

SCENARIOS = ("data/scenarios/", "data/author_b/scenarios/")
"""Folders of files of one form, of which one is broken for all."""

HYBRIDS = ("hybrid", "hybrid_two_way", "hybrid_monitor")

READ_BY_NAME = {
    ("negative_results", "data/metrics"): {
        f"{name}.json"
        for name in kept_by_hand(
            NegativeResults, yaml.safe_load((REPOSITORY / DECLARED).read_text("utf-8")), DECLARED
        ).keys_by_file()
        if name != RETIRED.stem
    },
    ("page", "data/metrics"): {
        Path(path).name
        for path in paths_named(stages()["page"].script)
        if path.startswith("data/metrics/")
    },
    **{
        (stage, MAIN_STUDY): {f"{name}.parquet" for name in names}
        for stage, names in {
            "abstention": ("improved_rules", "invariants", "invariants_abstaining"),
            "monitor": MONITOR_STUDY,
            "hybrid": (*HYBRIDS, "improved_rules", "random_forest", "simulated_human"),
        }.items()
    },
    # a console is any text, and of the programs one is broken for all
    **{
        (stage, "data/field/development"): {
            "recorded.csv",
            "readers.csv",
            "author_1/answer_cut_off/card.json",
            "monitored/runs.parquet",
            "monitored/signals/programs.parquet",
        }
        for stage in ("measure_diagnose_logs", "measure_learners", "measure_budget")
    },
    ("diagnose_logs", "data/field/development"): {"author_1/answer_cut_off/card.json"},
    ("crosswalk", "data/plots"): {f"{condition.points}.csv" for condition in CONDITIONS.values()},
}
"""Of folders of all studies' results, the files that a stage names."""

SECONDS = 60
"""Within which a stage answers, on a slow machine too: it reads all inputs before it fits."""

COLUMNS_PER_FILE = 6
"""Columns of a table that are dropped, evenly spaced: which columns are checked is one schema."""


@dataclass(frozen=True)
class Break:
    """One way to break one input, in the working directory."""

    place: str
    """The file, folder or section that the line of error must name."""
    name: str
    apply: Callable[[], None]


def is_within(place: str, declared: str, item: str) -> bool:
    """Whether a file, folder or section that a stage declares is, or holds, a place."""
    section = declared.replace("${item}", item)
    return f"{place}/".startswith(f"{declared}/") or f"{place}.".startswith(f"{section}.")


@dataclass(frozen=True)
class Answer:
    """What a stage answered to a break: exit status, stderr, and the files that it touched."""

    item: str
    place: str
    name: str
    status: int | None
    stderr: str
    touched: tuple[str, ...]

    def belongs_to(self, declared: str) -> bool:
        """Whether what a stage declares is, or holds, what was broken."""
        return is_within(self.place, declared, self.item)

    @property
    def fault(self) -> str | None:
        problems = []
        if self.status != 2:
            problems.append(f"exit status {self.status}")
        if self.stderr.count("\n") != 1 or "Traceback" in self.stderr:
            problems.append("stderr is not one line")
        path = Path(self.place)
        # of files that belong together, the line may begin with a folder of them, or with another
        folders = [f"{folder}: " for folder in path.parents if folder.name]
        if not any(name in self.stderr for name in (self.place, path.name, *folders)):
            problems.append("the line does not name the input")
        if self.touched:
            problems.append(f"touched {', '.join(self.touched)}")
        if not problems:
            return None
        what = f"{self.item} {self.name} {self.place}".strip()
        return f"{what}: {'; '.join(problems)}: {self.stderr[-600:]}"


def inputs_of(stage: Stage) -> list[str]:
    """Files of data that a stage reads; of a folder, those in it that belong to the stage."""
    files: list[str] = []
    for dep in sorted(stage.inputs):
        path = REPOSITORY / dep
        files += [dep] if path.is_file() else [f"{dep}/{name}" for name in _read_of(stage, dep)]
    return [path for path in files if path != KNOWN or readers_of_known()]


def readers_of_known() -> list[str]:
    """The methods of the pipeline that read what the monitor knows."""
    return [name for name in foreach_items()["nested_cv"] if name in MONITOR_METHODS]


def _read_of(stage: Stage, folder: str) -> list[str]:
    if (stage.name, folder) in READ_BY_NAME:
        return sorted(READ_BY_NAME[stage.name, folder])
    methods = foreach_items()["nested_cv"]
    if stage.name == "crosswalk":
        return sorted(
            {
                f"{method}.parquet"
                for condition in CONDITIONS.values()
                for method in condition.methods
                if folder == f"data/predictions/{condition.predictions}"
            }
        )
    if stage.name == "lead_time" and folder == MAIN_STUDY:
        return [f"{name}.parquet" for name in sorted(methods_asked(methods))]
    if folder == ACROSS_ARCHITECTURES or (folder, stage.name) == (MAIN_STUDY, "architectures"):
        return [f"{name}.parquet" for name in sorted(across_architectures_files(methods))]
    if folder == MAIN_STUDY and "methods" in stage.sections:
        return [f"{name}.parquet" for name in sorted(prediction_files(methods))]
    if folder == MAIN_STUDY:
        diagnoses = pl.read_parquet(REPOSITORY / "data/measurements/case_studies/diagnoses.parquet")
        return [f"{name}.parquet" for name in sorted(diagnoses["method"].unique())]
    if stage.name == "paper":
        return [READ_FOR_ALL[folder]]
    root = REPOSITORY / folder
    params = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
    if (folder, stage.name) == ("data/peers", "peers"):
        return [f"{name}.parquet" for name in params["peers"]["verdicts"]]
    if folder == VERSIONS:  # of those frozen, what the studies read
        read = params["monitor"]["versions"]
        read = read[-1:] if stage.name in OF_LAST_VERSION else read
        found = (path for version in read for path in (root / version).rglob("*"))
    else:
        # notes, and what was compared before fingerprints were carried over, are for readers
        found = (p for p in root.rglob("*") if p.suffix != ".md" and p.name != "carried.csv")
    return sorted(path.relative_to(root).as_posix() for path in found if path.is_file())


def breaks_of(stage: Stage, item: str) -> Iterator[Break]:
    """Every break of every input; of scenarios, and a folder's tables of equal columns, of one."""
    first = foreach_items().get(stage.name, [""])[0]
    files = inputs_of(stage) if item == first else []
    if item and KNOWN in stage.inputs:
        files = [path for path in files if path != KNOWN]
        files += [KNOWN] if [item] == readers_of_known()[:1] else []
    spared = {
        path for folder in SCENARIOS for path in [p for p in files if p.startswith(folder)][1:]
    }
    if "data/llm" in stage.inputs:
        section, folder = ASKED.get(stage.name, ("llm_agents", "data/llm"))
        model = yaml.safe_load(Path("params.yaml").read_text("utf-8"))[section]["models"]
        cache = f"{folder}/{next(iter(model))}.jsonl"
        yield Break(cache, "garbage in", lambda: _write(cache, GARBAGE))
    seen: set[tuple[str, ...]] = set()
    for path in files:
        if path.endswith(".parquet"):
            columns = (str(Path(path).parent), *pl.read_parquet_schema(path))
            if columns in seen and path not in stage.inputs:
                continue
            read = READ_IN_PART.get((stage.name, path), pl.read_parquet_schema(path))
            yield from _breaks_of_table(path, tuple(read) if columns not in seen else ())
            seen.add(columns)
        elif path not in spared:
            yield from _breaks_of_text(path)
    for folder in sorted(stage.inputs):
        if (REPOSITORY / folder).is_dir() and folder != "data/llm":
            yield Break(folder, "without", lambda folder=folder: shutil.rmtree(folder))
    if stage.sections:
        yield Break("params.yaml", "without", Path("params.yaml").unlink)
        yield Break("params.yaml", "garbage in", lambda: _write("params.yaml", GARBAGE))
    for section in sorted({param.replace("${item}", item) for param in stage.sections}):
        yield from _breaks_of_section(section)


def thinned(stage: Stage, item: str) -> Iterator[Break]:
    """All breaks of what no stage before reads, and one of what it reads as another does."""
    broken: set[str] = set()
    for fault in breaks_of(stage, item):
        places = stage.inputs | stage.sections
        declared = {place for place in places if is_within(fault.place, place, item)}
        if declared - broken or stage.name in {FIRST.get(place) for place in declared}:
            yield fault
        broken |= declared


def _breaks_of_table(path: str, read: tuple[str, ...]) -> Iterator[Break]:
    """Breaks of a file of which some columns are read, none to leave its columns alone."""
    yield from _breaks_of_bytes(path)
    table = pl.read_parquet(path)
    if read:
        for column in read[:: max(1, len(read) // COLUMNS_PER_FILE)]:
            yield Break(
                path,
                f"no column {column} in",
                lambda column=column: table.drop(column).write_parquet(path),
            )
        other = table.with_columns(pl.lit(value=True).alias(read[0]))
        yield Break(path, "a column of another type in", lambda: other.write_parquet(path))
    if path not in EMPTY_WHERE_NOBODY_WAS_ASKED:
        yield Break(path, "no rows in", lambda: table.clear().write_parquet(path))


def _breaks_of_text(path: str) -> Iterator[Break]:
    yield from _breaks_of_bytes(path)
    if path.endswith((".typ", ".svg", ".bib", ".md")):
        return
    if path.endswith(".csv"):
        points = pl.read_csv(path, infer_schema_length=None)
        other = points.select(pl.lit(1).alias("not_a_column"))
        yield Break(path, "another column alone in", lambda: other.write_csv(path))
        if path not in EMPTY_WHERE_NOBODY_WAS_ASKED:
            yield Break(path, "no rows in", lambda: points.clear().write_csv(path))
    else:
        yield Break(path, "a list in", lambda: _write(path, b"[1, 2]\n"))
        yield Break(path, "no keys in", lambda: _write(path, b"{}\n"))
        yield Break(path, "another key in", lambda: _write(path, b'{"not_a_key": 1}\n'))


def _breaks_of_bytes(path: str) -> Iterator[Break]:
    yield Break(path, "without", Path(path).unlink)
    yield Break(path, "garbage in", lambda: _write(path, GARBAGE))
    # any text is a text, and an empty section of the paper is one
    if not path.endswith((".typ", ".svg", ".bib", ".md")):
        yield Break(path, "nothing in", lambda: _write(path, b""))


def _breaks_of_section(section: str) -> Iterator[Break]:
    params = yaml.safe_load(Path("params.yaml").read_text("utf-8"))
    content = params[section]

    def changed(value: Any) -> Callable[[], None]:
        return lambda: _write("params.yaml", json.dumps({**params, section: value}).encode())

    yield Break(section, "nothing in", changed(None))
    yield Break(section, "a number as", changed(3))
    if isinstance(content, list):
        yield Break(section, "a name twice in", changed([*content, content[0]]))
        yield Break(section, "a number in", changed([*content, 3]))
    else:
        yield Break(section, "an unknown key in", changed({**content, "not_a_key": 1}))
        for key in content:
            wrong = {**content, key: {"not": ["of", "this", "type"]}}
            yield Break(f"{section}.{key}", "a wrong type of", changed(wrong))


def _write(path: str, content: bytes) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_bytes(content)


def answers(name: str) -> Iterator[Answer]:
    """Break every input in turn; data, which all items of a stage read, for the first alone."""
    stage = stages()[name]
    script = runpy.run_path(str(stage.script))
    signal.signal(signal.SIGALRM, _late)
    for item in foreach_items().get(name, [""]):
        argv = [str(stage.script), *([item] if item else [])]
        with (
            tempfile.TemporaryDirectory() as folder,
            patch.object(sys, "argv", argv),
            patch.dict(os.environ, FAILBENCH_WORKERS="1"),
            warnings.catch_warnings(action="ignore"),
        ):
            healthy = Path(folder, "healthy")
            _copy_inputs(stage, item, healthy)
            with contextlib.chdir(shutil.copytree(healthy, Path(folder, "copy"))):
                for fault in thinned(stage, item):
                    yield _answer(script, item, fault)
                    _restore(healthy)


def _copy_inputs(stage: Stage, item: str, root: Path) -> None:
    """The inputs of a stage, and something in the place of each of its outputs."""
    root.mkdir()
    # captions are read after the numbers that they name
    write_params_of_fewer_draws(root / "params.yaml")
    for path in stage.inputs:
        source, target = REPOSITORY / path, root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
    for out in stage.outputs:
        target = root / out.replace("${item}", item)
        if not target.suffix:
            target /= "earlier"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("of an earlier run", encoding="utf-8")


def _answer(script: dict[str, Any], item: str, fault: Break) -> Answer:
    fault.apply()
    before = _files()
    stderr = io.StringIO()
    status: int | str | None = 0
    with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(io.StringIO()):
        signal.alarm(SECONDS)
        try:
            (script.get("run") or script["st"].run)(script["main"])
        except SystemExit as end:
            status = end.code
        except Exception:  # what a user would see is what is asked
            traceback.print_exc()
            status = 1
        finally:
            signal.alarm(0)
    after = _files()
    touched = {path for path in before | after if before.get(path) != after.get(path)}
    code = status if isinstance(status, int) else 1
    return Answer(item, fault.place, fault.name, code, stderr.getvalue(), tuple(sorted(touched)))


def _files(root: Path = Path()) -> dict[str, tuple[int, int]]:
    """Every file below a folder, with the time it was written and its size."""
    status = [(path, path.stat()) for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): (each.st_mtime_ns, each.st_size) for path, each in status}


def _restore(healthy: Path) -> None:
    wanted, actual = _files(healthy), _files()
    for path in actual.keys() - wanted.keys():
        Path(path).unlink()
    for path in wanted:
        if actual.get(path) != wanted[path]:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(healthy / path, path)


def _late(*_: object) -> None:
    raise TimeoutError(f"no answer within {SECONDS} s")


INPUTS = [
    (stage.name, place)
    for stage in stages().values()
    for place in sorted(stage.inputs | stage.sections)
    if place != KNOWN or readers_of_known()
]
"""What every stage reads."""

FIRST = {place: stage for stage, place in reversed(INPUTS)}
"""The first stage that reads each."""

REPORTS = {stage.name for stage in stages().values() if published_study(stage.script)}

walked = cache(lambda stage: tuple(answers(stage)))
"""A stage is walked once for all tests of its inputs."""


def assert_refused(stage: str, place: str) -> None:
    """Every break of an input ends the stage with one line that names it, before it writes."""
    to_input = [answer for answer in walked(stage) if answer.belongs_to(place)]
    assert to_input, f"Nothing of {place} was broken for {stage}."
    faults = [answer.fault for answer in to_input if answer.fault is not None]
    assert not faults, "\n".join(faults)
