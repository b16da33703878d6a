"""A live kernel that a notebook is executed in: apart, without a network, killed at its limit."""

import ast
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

import failbench
from failbench.notebooks.corpus import Version
from failbench.notebooks.equal import make_world

READY: Final = 120.0  # seconds until a kernel must answer
ALONE: Final = ("unshare", "--map-root-user", "--net")  # starts a process without a network
COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
FRAME: Final = re.compile(r"Cell In\[(\d+)\], line (\d+)(?: in (\S+))?")
COMPREHENSIONS: Final = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")

EXPRESSION: Final = (
    "__import__('failbench.notebooks.summary.state', fromlist=['summarise'])"
    ".summarise(__import__('IPython').get_ipython().user_ns, {names!r}, {attributes!r})"
)


@dataclass(frozen=True)
class Frame:
    """A place in the code of the notebook that an error came through."""

    count: int
    line: int
    function: str | None


@dataclass(frozen=True)
class Failure:
    """What a cell raised."""

    name: str
    message: str
    frames: tuple[Frame, ...]


class OutOfTimeError(Exception):
    """A cell did not end within its limit, or the kernel died in it."""


@dataclass
class Kernel:
    """A kernel that executes cells one after another."""

    client: BlockingKernelClient
    limit: float
    folder: Path
    count: int = 0

    def execute(self, code: str) -> Failure | None:
        """Execute a cell; what it raised, or None."""
        self.count += 1
        reply = self._ask(code, {}, silent=False)
        if reply["status"] == "ok":
            return None
        return Failure(reply["ename"], reply["evalue"], frames_of(reply["traceback"]))

    def summary(self, names: Sequence[str], attributes: Mapping[str, Sequence[str]]) -> str:
        """The runtime summary of names, as JSON; it binds no name and counts no execution."""
        known = {name: list(asked) for name, asked in attributes.items()}
        expression = EXPRESSION.format(names=list(names), attributes=known)
        reply = self._ask("", {"summary": expression}, silent=True)
        answer = reply["user_expressions"]["summary"]
        if answer["status"] != "ok":
            raise RuntimeError(f"{answer['ename']}: {answer['evalue']}")
        return str(ast.literal_eval(answer["data"]["text/plain"]))

    def _ask(self, code: str, expressions: dict[str, str], *, silent: bool) -> dict[str, Any]:
        try:
            told: dict[str, Any] = {"silent": silent, "user_expressions": expressions}
            told |= {"allow_stdin": False, "reply": True, "timeout": self.limit}
            # Otherwise what is asked soon after an error is dropped unexecuted.
            told["stop_on_error"] = False
            reply = self.client.execute(code, **told)
        except TimeoutError as error:
            raise OutOfTimeError(f"no end within {self.limit:g} seconds") from error
        content: dict[str, Any] = reply["content"]
        return content


def frames_of(traceback: Sequence[str]) -> tuple[Frame, ...]:
    """The notebook's frames in a plain traceback, outermost first, without comprehensions."""
    text = COLOURS.sub("", "\n".join(traceback))
    return tuple(
        Frame(int(count), int(line), name or None)
        for count, line, name in FRAME.findall(text)
        if name not in COMPREHENSIONS
    )


@dataclass(frozen=True)
class Forge:
    """Starts kernels, one at a time, from a process that has imported the libraries."""

    process: subprocess.Popen[str]
    limit: float
    memory: int

    @contextmanager
    def kernel(self, world: Path | None = None, version: Version = "crashing") -> Iterator[Kernel]:
        """A kernel in a folder of its own, which is removed at the end, whatever happens."""
        folder = Path(tempfile.mkdtemp(prefix="fb-"))  # short: sockets have a limit of 107 letters
        work = folder / "work"
        work.mkdir()
        connection = str(folder / "connection.json")
        key = secrets.token_hex(32).encode()
        write_connection_file(connection, transport="ipc", ip=str(folder / "socket"), key=key)
        try:
            paths = {"HOME": folder, "TMPDIR": folder, "IPYTHONDIR": folder / "ipython"}
            paths |= {"JUPYTER_DATA_DIR": folder / "jupyter"}
            paths |= {"JUPYTER_RUNTIME_DIR": folder / "runtime"}
            order: dict[str, Any] = {"connection": connection, "folder": str(work)}
            order["memory"] = self.memory
            environment = {name: str(path) for name, path in paths.items()}
            if world is not None:
                made = make_world(world, version, work, _environment(folder) | environment)
                # what is drawn or dated without a word in the code must come out the same again
                order |= {"seed": made.seed or 0, "today": made.today}
                environment |= {"TZ": "UTC", **made.environment}
            self._send(order | {"environment": environment})
            client = BlockingKernelClient(connection_file=connection)
            client.load_connection_file()
            client.start_channels(iopub=False, stdin=False, hb=False)
            try:
                client.kernel_info(reply=True, timeout=READY)
                yield Kernel(client, self.limit, work)
            finally:
                client.stop_channels()
                self._send({})
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _send(self, order: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()


@contextmanager
def forge(limit: float, memory: int, cache: Path) -> Iterator[Forge]:
    """A process that kernels are started from, without a network where the system allows it."""
    command = [*_alone(), sys.executable, "-m", "failbench.notebooks.forge"]
    environment = _environment(cache)
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        yield Forge(process, limit, memory)


def _alone() -> tuple[str, ...]:
    try:
        status = subprocess.run((*ALONE, "true"), capture_output=True, check=False).returncode
    except OSError:
        return ()
    return () if status else ALONE


def _environment(cache: Path) -> dict[str, str]:
    root = str(Path(failbench.__file__).parents[1])
    known = os.environ.get("PYTHONPATH", "")
    return {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": f"{root}{os.pathsep}{known}" if known else root,
        "PYTHONHASHSEED": "0",
        "PYTHONPYCACHEPREFIX": str(cache / "compiled"),
        "HOME": str(cache),
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": str(cache / "matplotlib"),
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "CUDA_VISIBLE_DEVICES": "",
        "LANG": "C.UTF-8",
    }
