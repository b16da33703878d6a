"""The commands ``diagnose``, ``read`` and ``inspect``, and ``mcp`` for agents: what a log says."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Group, Parameter
from pydantic_core import to_jsonable_python

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.cli.places import (
    Checkout,
    Decimal,
    Json,
    Log,
    Pattern,
    Run,
    refused,
    second_opinions,
)
from failbench.cli.terminal import EndedError, interruptible
from failbench.diagnose.readers.lines import clean

if TYPE_CHECKING:
    from failbench.agents.second_opinion import SecondOpinion
    from failbench.diagnose.answer import LogDiagnosis, Status
    from failbench.diagnose.inspection.loss_curve import Curve, Gap, LossCurves, Place
    from failbench.diagnose.inspection.memory import PhaseMemory
    from failbench.diagnose.readers.log import Event, SignalSummary
    from failbench.diagnose.readers.log import Log as ReadLog
    from failbench.diagnose.readers.text import Hints
    from failbench.diagnose.readers.traps import Trap
    from failbench.methods.llm.session import Progress
    from failbench.monitor.history import History

EXIT: Final[dict[Status, int]] = {
    "healthy": 0, "failed": 1, "unknown": 3, "no_training_log": 4, "too_little": 5,
}  # fmt: skip
"""Exit status by what is said of the run; 2 is bad input, as everywhere."""

SECOND: Final = Group("A second opinion on the same evidence, of a language model")
BATCH: Final = Group("All runs of a folder of telemetry, by named methods")

MEASURED: Final = ("gradient_norm", "update_ratio")  # shown beside the course of the loss
MESSAGE: Final = 300  # letters of a message that are shown; ``--json`` has all that was read


def diagnose(
    log: Log,
    /,
    *,
    run: Run = None,
    pattern: Pattern = None,
    decimal: Decimal = None,
    failed: Annotated[bool, Parameter(help="the run failed, even if nothing stands out")] = False,
    config: Annotated[Path | None, Parameter(help="settings of the training")] = None,
    code: Annotated[Sequence[Path], Parameter(help="Python files, only read")] = (),
    bounds: Annotated[Path | None, Parameter(help="of healthy runs, for a monitor's log")] = None,
    against: Annotated[Path | None, Parameter(help="the log of a run that worked")] = None,
    json: Json = False,
    html: Annotated[Path | None, Parameter(help="write a page with curves")] = None,
    plot: Annotated[Path | None, Parameter(help="write the curves: svg, png")] = None,
    llm: Annotated[str | None, Parameter(help="a model of an Ollama server", group=SECOND)] = None,
    host: Annotated[
        str | None, Parameter(help="of it (default: OLLAMA_HOST, or this machine)", group=SECOND)
    ] = None,
    whole: Annotated[bool, Parameter(name="--all", help="show more than fits on a screen")] = False,
    output: Annotated[
        Path | None, Parameter(help="a row per diagnosis: .parquet .csv .json .jsonl", group=BATCH)
    ] = None,
    method: Annotated[
        Sequence[str],
        Parameter(
            help="of features, a monitor's recording or raw telemetry (default: simple_rules)",
            group=BATCH,
        ),
    ] = (),
    features: Annotated[
        Path | None, Parameter(help="to learn from (default: the reference's)", group=BATCH)
    ] = None,
    reference: Annotated[Checkout, Parameter(group=BATCH)] = None,
) -> int:
    """Say why a training run failed, from a log of any format.

    Of a folder with a monitor's log of each rank (rank0, rank1, ...) it says which rank departed.
    The likely cause, its evidence, what to change, and how sure that is. Exit status: 0 it is
    healthy, 1 it failed, and a category is named, 2 the input cannot be read, 3 it is not clear, 4
    it is no training log, 5 it says too little.
    """
    of_batch = {"--method": method, "--features": features, "--reference": reference}
    if output is not None:
        of_log = {
            "run": run,
            "pattern": pattern,
            "decimal": decimal,
            "failed": failed,
            "config": config,
            "code": code,
            "bounds": bounds,
            "against": against,
        }
        of_log |= {"json": json, "html": html, "plot": plot, "all": whole}
        of_log |= {"llm": llm, "host": host}
        remedy = "Leave out --output, or this."
        _refuse_any({f"--{name}": each for name, each in of_log.items()}, "one log", remedy)
        from failbench.cli.methods import diagnose_telemetry

        named = method or ["simple_rules"]
        return diagnose_telemetry(log, named, output, features=features, reference=reference)
    remedy = "Add --output FILE, or leave it out."
    _refuse_any(of_batch, "all runs of a folder of telemetry", remedy)

    from failbench.diagnose.diagnosis import diagnose_log
    from failbench.diagnose.outputs.document import document_of, json_of
    from failbench.diagnose.ranks import rank_folders

    if rank_folders(log):
        of_one: dict[str, object] = {"run": run, "pattern": pattern, "decimal": decimal}
        of_one |= {
            "config": config,
            "code": code,
            "against": against,
            "html": html,
            "plot": plot,
            "llm": llm,
        }
        remedy = "Leave it out, or name the folder of one rank."
        _refuse_any({f"--{name}": each for name, each in of_one.items()}, "one log", remedy)
        return _diagnose_ranks(log, bounds, json=json, whole=whole)
    diagnosis = diagnose_log(
        log, run=run, bounds=bounds, failed=failed, configuration=config, code=code,
        hints=_hints(pattern, decimal), against=against,
    )  # fmt: skip
    second = None
    if llm is not None:
        second = _ask_model(diagnosis, llm, host, failed=failed)
    written = {}
    if html is not None:
        from failbench.diagnose.outputs.html_page import html_of

        remedy = "Free space or choose another folder; an existing file is unchanged."
        write_atomically(html, html_of(diagnosis).encode(), remedy)
        written["page"] = str(html)
    if plot is not None:
        from failbench.diagnose.outputs.curves import write_plot

        write_plot(diagnosis, plot)
        written["curves"] = str(plot)
    if json:
        document = document_of(diagnosis, written)
        if second is None:
            print(json_of(document))
        else:
            print(_json({"diagnosis": document, "second_opinion": second}))
    else:
        from rich.console import Console

        from failbench.diagnose.outputs.page import print_page

        print_page(diagnosis, console := Console(), whole=whole)
        if second is not None:
            from failbench.agents.second_opinion import paragraphs

            for line in ("", *paragraphs(second)):
                print(fill(clean(line), console.width, subsequent_indent="  "))
        for name, path in written.items():
            print(f"{name} written to {path}", file=sys.stderr)
    return EXIT[diagnosis.status]


def _diagnose_ranks(folder: Path, bounds: Path | None, *, json: bool, whole: bool) -> int:
    """Say which rank of a run departed first, and what the log of that rank says."""
    from failbench.diagnose.outputs.document import document_of
    from failbench.diagnose.outputs.ranks_page import lines_of_ranks, record_of
    from failbench.diagnose.ranks import diagnose_ranks, read_ranks
    from failbench.monitor.bounds import read_bounds
    from failbench.monitor.invariants import CATALOGUE

    fitted = None if bounds is None else read_bounds(bounds, CATALOGUE).intervals()
    answer = diagnose_ranks(read_ranks(folder), fitted=fitted)
    if json:
        document = document_of(answer.said).model_dump(mode="json")
        print(_json({"ranks": record_of(answer), "diagnosis": document}))
    else:
        from rich.console import Console

        from failbench.diagnose.outputs.page import print_page

        console = Console()
        for line in lines_of_ranks(answer):
            print(fill(clean(line), console.width, subsequent_indent="  "))
        if answer.status != "none":
            print()
            print_page(answer.said, console, whole=whole)
    if answer.status == "none":
        return EXIT["healthy"]
    return EXIT["unknown" if answer.category is None else "failed"]


def _refuse_any(given: Mapping[str, object], form: str, remedy: str) -> None:
    for name, value in given.items():
        if value:
            raise BadInputError("diagnose", name, f"is of the form that diagnoses {form}.", remedy)


def _ask_model(
    diagnosis: LogDiagnosis, model: str, host: str | None, *, failed: bool
) -> SecondOpinion:
    """What a model on an Ollama server makes of the evidence."""
    from failbench.agents.second_opinion import second_opinion
    from failbench.methods.llm.session import LlmServerError

    def show(progress: Progress) -> None:
        if progress.answered < progress.questions:
            print(f"asking {model}, which may take minutes ...", file=sys.stderr)

    try:
        with interruptible("Stopped: the model was not waited for."):
            folder = second_opinions()
            return second_opinion(diagnosis, model, folder, show, host=host, failed=failed)
    except LlmServerError as error:
        raise EndedError(f"Ollama: {model}: {error}", 2) from error


def _hints(pattern: str | None, decimal: str | None) -> Hints:
    from failbench.diagnose.readers.text import Hints

    try:
        compiled = None if pattern is None else re.compile(pattern)
    except re.error as error:
        problem, remedy = f"is no regular expression: {error}.", "Write it as Python's re reads it."
        raise refused("--pattern", problem, remedy) from error
    if compiled is not None and not compiled.groupindex:
        remedy = r"Name the numbers: --pattern 'step (?P<step>\d+) loss (?P<loss>\S+)'."
        raise refused("--pattern", "has no named group.", remedy)
    return Hints(compiled, decimal)


def read(
    log: Log,
    /,
    *,
    run: Run = None,
    pattern: Pattern = None,
    decimal: Decimal = None,
    json: Json = False,
) -> int:
    """Say what a training log of any format holds: its signals, gaps and events."""
    from failbench.agents.contents import contents_of
    from failbench.diagnose.readers.log import summaries
    from failbench.diagnose.readers.opening import read_log
    from failbench.diagnose.readers.traps import traps

    content = read_log(log, run, _hints(pattern, decimal))
    if json:
        print(_json(contents_of(content)))
    else:
        print(clean(_read_page(content, summaries(content), traps(content))))
    return 0


def _json(record: object) -> str:
    """A record as JSON, whose numbers are finite: what is not is null."""
    return dumps(to_jsonable_python(record, inf_nan_mode="null"), indent=2, allow_nan=False)


def _read_page(log: ReadLog, signals: list[SignalSummary], traps: tuple[Trap, ...]) -> str:
    from failbench.messages.catalogue import message_of

    lines = []
    for source in log.sources:
        lines.append(f"{source.name}: {source.format}, {source.lines:,} lines")
        lines += [f"  {note}" for note in source.notes]
    lines += [_signal_line(signal) for signal in signals]
    if log.absent:
        lines.append(f"not logged: {', '.join(log.absent)}")
    if others := log.numbers.others():
        shown = ", ".join(f"{name} ({count:,} values)" for name, count in others.items())
        lines.append(f"also logged: {shown}")
    for trap in traps:
        place = _place(trap.step, trap.line)
        lines.append(f"{trap.kind}{place}, {trap.rows:,} times: {trap.meaning}")
    for event in log.events:
        lines.append(_event_line(log, event))
        if known := message_of(event.name, event.message):
            lines += [f"  means: {known.meaning}", f"  look: {known.check}"]
    return "\n".join(lines)


def _signal_line(signal: SignalSummary) -> str:
    steps = "steps not logged"
    if signal.first_step is not None:
        steps = f"steps {signal.first_step} to {signal.last_step}"
    text = (
        f"{signal.signal} ({signal.split}): {signal.values:,} values, {steps}, "
        f"last {signal.last:g}{_place(None, signal.last_line)}"
    )
    if signal.lowest is not None:
        text += f", from {signal.lowest:g} to {signal.highest:g}"
    if signal.not_finite:
        place = _place(signal.first_not_finite_step, signal.first_not_finite_line)
        text += f"; {signal.not_finite:,} not finite, the first{place}"
    return text


def _place(step: int | None, line: int | None) -> str:
    at = "" if step is None else f" at step {step}"
    return at if line is None else f"{at} (line {line})"


def _event_line(log: ReadLog, event: Event) -> str:
    place = log.sources[event.source].name + (f":{event.line}" if event.line else "")
    head = event.message.split("\n", 1)[0][:MESSAGE]
    said = ": ".join(part for part in (event.name, head) if part) or "a traceback that is cut off"
    raised = f", raised at {event.frames[-1]}" if event.frames else ""
    return f"{place}: {said}{raised}"


def inspect(
    log: Log,
    /,
    *,
    run: Run = None,
    pattern: Pattern = None,
    decimal: Decimal = None,
    json: Json = False,
) -> int:
    """Show the course of a log's loss and gradients, and of a monitor's log memory by phase."""
    from failbench.diagnose.inspection.loss_curve import curve_of, loss_curves
    from failbench.diagnose.inspection.memory import first_to_leave, memory_by_phase
    from failbench.diagnose.readers.opening import read_log

    content = read_log(log, run, _hints(pattern, decimal))
    losses = loss_curves(content)
    phases: tuple[PhaseMemory, ...] = ()
    if content.history is None:
        others = [curve_of(content, "grad_norm", "train")]
    else:
        phases = memory_by_phase(content.history)
        others = [_measured(content.history, signal) for signal in MEASURED]
    curves = [each for each in (losses.train, losses.validation, *others) if each is not None]
    if not json:
        print(clean(_course_page(losses, curves, phases)))
        return 0
    first = first_to_leave(phases)
    record = {
        "curves": curves,
        "last_gap": losses.last_gap,
        "widest_gap": losses.widest_gap,
        "memory": phases,
        "first_to_leave": None if first is None else first.phase,
    }
    print(_json(record))
    return 0


def _measured(history: History, signal: str) -> Curve | None:
    from failbench.diagnose.inspection.loss_curve import Place, course

    points = zip(*history.series(signal), strict=True)
    places = [Place(float(value), int(step), None) for step, value in points]
    return course(signal, "train", places) if places else None


def _course_page(losses: LossCurves, curves: list[Curve], phases: tuple[PhaseMemory, ...]) -> str:
    from failbench.diagnose.inspection.memory import memory_text

    lines = [line for curve in curves for line in _curve_lines(curve)]
    if not curves:
        lines.append("no loss and no gradient norm is logged")
    if losses.last_gap is not None:
        lines.append(f"gap at the last validation: {_gap(losses.last_gap)}")
    if losses.widest_gap is not None and losses.widest_gap != losses.last_gap:
        lines.append(f"gap where it is widest: {_gap(losses.widest_gap)}")
    if phases:
        lines += ["memory by phase, above that at the beginning of a step:", memory_text(phases)]
    return "\n".join(lines)


def _curve_lines(curve: Curve) -> list[str]:
    head = f"{curve.signal} ({curve.split}): {curve.values:,} values"
    lines = [f"{head}, first {_at(curve.first)}, last {_at(curve.last)}"]
    if curve.best is not None and curve.highest is not None:
        since, highest = f"{curve.since_best:,} values since", _at(curve.highest)
        lines.append(f"  lowest: {_at(curve.best)}; {since}; highest: {highest}")
    if curve.half is not None:
        lines.append(f"  half of the way down: {_at(curve.half)}")
    if curve.trend is not None:
        low, high = f"{curve.trend.low:.3g}", f"{curve.trend.high:.3g}"
        lines.append(f"  trend: {curve.trend.slope:.3g} per {curve.unit} (95 %: {low} to {high})")
    if curve.jump is not None:
        line = f"  largest rise: from {_at(curve.jump.before)} to {_at(curve.jump.after)}"
        if curve.jump.deviations is not None:
            line += f", {curve.jump.deviations:.3g} median absolute deviations"
        lines.append(line)
    if curve.plateau is not None:
        since, until = _at(curve.plateau.since), _at(curve.plateau.until)
        values = f"{curve.plateau.values:,} values"
        lines.append(f"  longest without a new lowest: {values}, from {since} to {until}")
    if curve.repeated:
        lines.append(f"  equal to the value before: {100 * curve.repeated:.3g} %")
    if curve.first_not_finite is not None:
        first = _at(curve.first_not_finite)
        lines.append(f"  not finite: {curve.not_finite:,} values, first {first}")
    return lines


def _gap(gap: Gap) -> str:
    return f"validation {_at(gap.validation)}, training {gap.train:.6g}, {gap.difference:+.3g}"


def _at(place: Place) -> str:
    where = [] if place.step is None else [f"step {place.step}"]
    where += [] if place.line is None else [f"line {place.line}"]
    return f"{place.value:.6g}" + (f" ({', '.join(where)})" if where else "")


def mcp() -> int:
    """Serve agents what diagnose and read say, by the Model Context Protocol.

    It speaks on standard input and output until the input ends, reads logs within the working
    directory alone, changes nothing and sends nothing anywhere.
    """
    from failbench.agents.server import server

    with interruptible("Stopped."):
        server().run()
    return 0
