"""Server: the tools that an agent calls, by the Model Context Protocol."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from failbench.agents.contents import Contents, compact, contents_of, fit
from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.causes.catalogue import Advice, Cause, advice, causes
from failbench.diagnose import diagnosis
from failbench.diagnose.outputs.document import Document, document_of
from failbench.diagnose.readers import opening

TEXT: Final = 2**20  # bytes of a log that is handed as text
ANSWER: Final = 20_000  # letters of an answer
LOCAL: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def _described(what: str, **schema: Any) -> Any:
    return Field(description=what, json_schema_extra=schema or None)


WITHIN = "within the server's working directory"
LogPath = Annotated[str, _described(f"A log: a file or folder {WITHIN}. Give this or text.")]
LogText = Annotated[
    str, _described("The log itself, of at most 1 MiB. Give this or path.", maxLength=TEXT)
]
Failed = Annotated[bool, _described("The run is known to have failed, even if nothing stands out.")]
Settings = Annotated[str, _described(f"Settings of the training, a JSON, YAML or text {WITHIN}.")]
Code = Annotated[
    tuple[str, ...], _described(f"Python files {WITHIN}; they are read and never run.")
]
Bounds = Annotated[
    str, _described("Of a monitor's log: bounds from healthy runs of the same setting.")
]
Against = Annotated[str, _described(f"The log of a run that worked: a file or folder {WITHIN}.")]
CauseName = Annotated[str, _described("A cause, as root_causes has its id.", enum=[*causes()])]
LeftOut = Annotated[int, _described("Entries of lists that are left out, as the answer was long.")]


class Diagnosis(Document):
    """What failbench makes of the log of a training run."""

    left_out: LeftOut = 0


class LogContents(Contents):
    """What a log holds, before anything is made of it."""

    left_out: LeftOut = 0


class Explanation(Record):
    """What is known of a cause."""

    cause: Cause
    advice: Advice


def diagnose_log(
    path: LogPath = "",
    text: LogText = "",
    failed: Failed = False,
    configuration: Settings = "",
    code: Code = (),
    bounds: Bounds = "",
    against: Against = "",
) -> Diagnosis:
    """Say why a training run failed, from its log in any format.

    The answer has a status (healthy, failed, unknown, too_little, no_training_log), the category,
    root causes with evidence, fixes, and what to measure where it is not sure.
    """
    settings = _inside(configuration, "configuration") if configuration else None
    kept = _inside(bounds, "bounds") if bounds else None
    good = _inside(against, "against") if against else None
    files = [_inside(each, "code") for each in code]
    with _log(path, text) as log:
        found = diagnosis.diagnose_log(
            log, failed=failed, configuration=settings, code=files, bounds=kept, against=good
        )
    return Diagnosis(**dict(document_of(found)))


def read_log(path: LogPath = "", text: LogText = "") -> LogContents:
    """Say what a training log of any format holds, and make nothing of it.

    Its signals with their ranges, what is not logged, values that mislead, and errors before
    warnings, each with its line and what is known of its message.
    """
    with _log(path, text) as log:
        return LogContents(**dict(contents_of(opening.read_log(log), errors_first=True)))


def explain_cause(cause: CauseName) -> Explanation:
    """Explain a root cause: how it fails a training, its remedies, and what would settle it."""
    known = causes()
    if cause not in known:
        similar = ", ".join(get_close_matches(cause, known)) or "none is similar"
        problem = f"there is no such cause ({similar})."
        raise BadInputError("explain_cause", cause, problem, "Name one that diagnose_log names.")
    return Explanation(cause=known[cause], advice=advice()[cause])


def server() -> MCPServer[Any]:
    """A server of all tools."""
    said = files("failbench.agents").joinpath("data/instructions.txt").read_text("utf-8")
    made: MCPServer[Any] = MCPServer("failbench", instructions=said, log_level="WARNING")
    for tool in (diagnose_log, read_log, explain_cause):
        made.add_tool(_as_tool(tool), description=getdoc(tool), annotations=LOCAL)
    return made


def _as_tool(answer: Callable[..., Record]) -> Callable[..., CallToolResult]:
    """A function whose record is cut to an answer's length, and whose refusal is told as it is."""

    @wraps(answer)
    def tool(**arguments: Any) -> CallToolResult:
        try:
            record = answer(**arguments).model_dump(mode="json")
        except BadInputError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
        if left_out := fit(record, ANSWER):
            record["left_out"] = left_out
        return CallToolResult(
            content=[TextContent(text=compact(record))], structured_content=record
        )

    return tool


def _inside(path: str, field: str) -> Path:
    """A path within the working directory, to which links are followed."""
    home = Path.cwd().resolve()
    try:
        is_inside = (home / path).resolve().is_relative_to(home)
    except (OSError, RuntimeError, ValueError):  # of links in a circle, or no path at all
        is_inside = False
    if not is_inside or path == opening.STANDARD_INPUT:
        problem = f"is no path within {home}, and no other files are read."
        raise BadInputError(path, field, problem, "Start the server above it, or give a text.")
    return Path(path)


@contextmanager
def _log(path: str, text: str) -> Iterator[Path]:
    """The log that is named, or a file of the one that is given."""
    if bool(path) == bool(text):
        problem = "a log is given by either of path and text, and here by both or none."
        raise BadInputError("log", "path", problem, "Give one of them.")
    if path:
        yield _inside(path, "path")
        return
    written = text.encode(errors="replace")
    if len(written) > TEXT:
        problem = f"has {len(written):,} bytes, and at most {TEXT:,} are taken."
        raise BadInputError("log", "text", problem, "Give its path, or its last lines.")
    with TemporaryDirectory() as folder:
        file = Path(folder, "text")
        file.write_bytes(written)
        try:
            yield file
        except BadInputError as error:
            place = "text" if error.place == str(file) else error.place
            raise BadInputError(place, error.field, error.problem, error.remedy) from error
