"""Recorder: runs programs of the field and their healthy twins, and holds both against the card."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, read_json, validated
from failbench.field import warm
from failbench.field.programs import PROGRAM, How, Program, missing_from
from failbench.monitor.budget import OFF

Run = Literal["run", "healthy", "other_seed"]
RUNS: Final[tuple[Run, ...]] = get_args(Run)
ARGUMENTS: Final[Mapping[Run, tuple[str, ...]]] = {
    "run": (), "healthy": ("--healthy",), "other_seed": ("--healthy", "--seed", "1"),
}  # fmt: skip
LIMIT: Final = 75.0  # seconds after which a program hangs; the healthy ones take 60 at most
CONSOLE: Final = "console.txt"
NUMBERS: Final = "numbers.jsonl"
ENDED: Final = "ended.json"
LARGEST: Final = 200_000  # bytes of a file of a run that are kept: its beginning and its end
OTHER_SEEDS: Final = 10  # programs of an author whose healthy twin has a second run
# what libraries write beside a console; of a Trainer's checkpoints the last
WRITTEN: Final = ("**/trainer_state.json", "**/metrics.csv")
ENVIRONMENT: Final = {
    "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
    OFF: "off",  # a recorded run is measured whole
}  # fmt: skip
_HUGGING_FACE: Final = (
    "torch",
    "datasets:Dataset",
    "accelerate:Accelerator",
    "transformers:Trainer",
)
# what a process imports before it is asked for programs of a library; one whose memory or death
# is measured starts from nothing
PRELOADED: Final[Mapping[str, tuple[str, ...]]] = {
    "torch": ("torch",), "ddp": ("torch",), "timm": ("timm",), "keras": ("numpy",),
    "lightning": ("lightning",), "jax": ("jax", "flax", "optax"),
    "accelerate": ("accelerate:Accelerator",), "datasets": _HUGGING_FACE,
    "transformers": _HUGGING_FACE, "peft": (*_HUGGING_FACE, "peft"),
    "sentence-transformers": ("sentence_transformers",),
    "trl": (*_HUGGING_FACE, "peft", "trl:SFTTrainer", "trl:DPOTrainer"),
}  # fmt: skip
PREFIX: Final = "train-"  # of the folder that a program is run in
_PLACE: Final = re.compile(rf"(?:/[\w.-]+)*/{PREFIX}\w{{8}}\b")
_INDEX: Final = re.compile(r"https?://(?:[a-z]+\.)?pypi\.[a-z]+")
_REMEDY: Final = "Free space, or name another folder."


class Ended(Record):
    """How one run of a program ended, and what was run."""

    how: How
    seconds: float
    fingerprint: str


class Warm:
    """A process of :mod:`failbench.field.warm` that runs one program at a time."""

    def __init__(self, python: str, preloaded: Sequence[str]) -> None:
        self._python = python
        self._process = subprocess.Popen(
            [python, warm.__file__, *preloaded],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **ENVIRONMENT},
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Run a program, and say how it ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(job) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            problem = f"ended while it ran {job['folder']}."
            raise BadInputError(self._python, "(process)", problem, "Run `make record-field`.")
        answer: dict[str, Any] = json.loads(line)
        return answer


@dataclass(frozen=True)
class Recording:
    """Where runs of programs are kept while a part is recorded, and what runs them."""

    data: Path
    work: Path
    python: str = sys.executable
    seconds: float = LIMIT
    monitored: bool = False

    def folder(self, program: Program, run: Run) -> Path:
        """Where the run of a program is kept."""
        return self.work / program.part / program.name / run

    def log(self, program: Program, run: Run) -> Path:
        """Where the monitor of a run writes."""
        return self.folder(program, run) / "log"

    def is_known(self, program: Program, run: Run) -> bool:
        """Whether this version of a program has been run so."""
        path = self.folder(program, run) / ENDED
        return path.exists() and self.ended(program, run).fingerprint == program.fingerprint

    def ended(self, program: Program, run: Run) -> Ended:
        """How the run of a program ended."""
        path, remedy = self.folder(program, run) / ENDED, "Remove it, and record again."
        return validated(Ended, read_json(path, remedy), path, remedy)

    def record(self, server: Warm, program: Program, run: Run) -> Ended:
        """Run a program once, and keep what it printed, logged and wrote."""
        folder = self.folder(program, run)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with tempfile.TemporaryDirectory(prefix=PREFIX) as place:
            here = Path(place).resolve()
            shutil.copy(program.folder / PROGRAM, here)
            console, numbers = folder / CONSOLE, folder / NUMBERS
            answer = server.run({
                "folder": str(here), "console": str(console.resolve()), "seconds": self.seconds,
                "arguments": ARGUMENTS[run], "helpers": str((self.data / "brief").resolve()),
                "environment": {"FIELD_RECORD": str(numbers.resolve())},
                "monitor": self._monitor(program, run) if self.monitored else None,
            })  # fmt: skip
            # as bytes: a bar returns to the beginning of its line, and ends none
            text = self.neutral(console.read_bytes().decode(errors="replace"))
            console.write_bytes(_shortened(text.encode()))
            for written in _written(here):
                content = self.neutral(written.read_bytes().decode("latin-1"))
                (folder / written.name).write_bytes(content.encode("latin-1")[:LARGEST])
        how = _how(answer["code"], text)
        ended = Ended(how=how, seconds=answer["seconds"], fingerprint=program.fingerprint)
        write_atomically(folder / ENDED, ended.model_dump_json().encode(), _REMEDY)
        return ended

    def _monitor(self, program: Program, run: Run) -> dict[str, str]:
        package = Path(warm.__file__).parents[2]
        return {"package": str(package), "log": str(self.log(program, run).resolve())}

    def neutral(self, text: str) -> str:
        """A text without what tells of this machine, or names an index of packages."""
        environment, installed = _prefixes(self.python)
        text = _PLACE.sub("/home/user/train", text)
        for own, neutral in ((environment, "/opt/env"), (installed, "/usr/local")):
            text = text.replace(own, neutral)
        text = _INDEX.sub("https://packages.example", text)
        return re.sub(rf"\b{re.escape(socket.gethostname())}\b", "node-1", text)

    def series(self, program: Program, run: Run) -> dict[str, list[float]]:
        """What a run logged, by names, in the order in which it was logged."""
        found: dict[str, list[float]] = {}
        for row in self.numbers(program, run):
            found.setdefault(row["name"], []).append(row["value"])
        return found

    def numbers(self, program: Program, run: Run) -> Iterator[dict[str, Any]]:
        """Name, step and value of each number that a run logged."""
        path = self.folder(program, run) / NUMBERS
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                yield json.loads(line)
            except ValueError:  # a process was killed while it wrote
                return


@cache
def _prefixes(python: str) -> tuple[str, str]:
    """Where a Python has its libraries, and where its own."""
    told = subprocess.run(
        [python, "-c", "import sys; print(sys.prefix, sys.base_prefix, sep='\\n')"],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    environment, installed = told.stdout.splitlines()
    return environment, installed


def _how(code: int | None, console: str) -> How:
    if code is None:
        return "timeout"
    if code <= 0:
        return "completed" if code == 0 else "killed"
    return "exception" if "Traceback" in console or "Error" in console else "exit"


def _written(folder: Path) -> Iterator[Path]:
    for pattern in WRITTEN:
        found = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)
        yield from found[-1:]


def _shortened(content: bytes) -> bytes:
    if len(content) <= LARGEST:
        return content
    return content[: LARGEST // 2] + b"\n[...]\n" + content[-LARGEST // 2 :]


def problems(recording: Recording, program: Program) -> list[str]:
    """What of its card the recorded runs of a program do not show."""
    card, found = program.card, []
    ended = recording.ended(program, "run")
    console = (recording.folder(program, "run") / CONSOLE).read_text("utf-8")
    series = recording.series(program, "run")
    if ended.how != card.ending.how:
        found.append(f"ends as {ended.how}, not {card.ending.how}")
    if card.ending.error and card.ending.error not in console:
        found.append(f"{card.ending.error} is not in the console")
    if card.symptom and (problem := missing_from(series, card.symptom)):
        found.append(problem)
    if card.kind != "oddity":
        twin = recording.ended(program, "healthy")
        series = recording.series(program, "healthy")
        if twin.how != "completed":
            found.append(f"the healthy twin ends as {twin.how}")
        if card.symptom and missing_from(series, card.symptom) is None:
            found.append("the healthy twin has the symptom, too")
    if problem := missing_from(series, card.healthy):
        found.append(f"healthy: {problem}")
    return found


def wanted_runs(programs: Sequence[Program]) -> list[tuple[Program, Run]]:
    """The runs of programs: both versions, and some healthy ones with another seed."""
    runs: list[tuple[Program, Run]] = []
    seeds: dict[str, int] = {}
    for program in sorted(programs, key=lambda each: sha256(each.name.encode()).digest()):
        card = program.card
        runs.append((program, "run"))
        if card.kind == "oddity":
            continue
        runs.append((program, "healthy"))
        if card.kind != "death" and seeds.get(card.author, 0) < OTHER_SEEDS:
            seeds[card.author] = seeds.get(card.author, 0) + 1
            runs.append((program, "other_seed"))
    return runs


def record(
    recording: Recording,
    runs: Sequence[tuple[Program, Run]],
    workers: int,
    show: Callable[[int, int], None],
) -> None:
    """Record the runs that are not known yet, programs of a library in the same processes."""
    due = [each for each in runs if not recording.is_known(*each)]
    by_libraries: dict[tuple[str, ...], list[tuple[Program, Run]]] = {}
    for program, run in due:
        is_death = program.card.kind == "death"
        preloaded = () if is_death else PRELOADED[program.card.library]
        by_libraries.setdefault(preloaded, []).append((program, run))
    done = len(runs) - len(due)
    show(done, len(runs))
    for preloaded, group in by_libraries.items():
        shares = [group[worker::workers] for worker in range(workers)]
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(list, _recorded(recording, preloaded, each)) for each in shares]
            for future in as_completed(futures):
                done += len(future.result())
                show(done, len(runs))


def _recorded(
    recording: Recording, preloaded: Sequence[str], runs: Sequence[tuple[Program, Run]]
) -> Iterator[Ended]:
    if not preloaded:
        for each in runs:
            with Warm(recording.python, ()) as server:
                yield recording.record(server, *each)
        return
    with Warm(recording.python, preloaded) as server:
        for each in runs:
            yield recording.record(server, *each)
