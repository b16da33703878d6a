"""The command ``failbench``; the only module that reads command-line arguments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import get_args

from failbench.commands.paths import (
    OUTSIDE_LIST,
    PEERS,
    PEERS_GRADIENTS,
    PEERS_INSIDE,
    SCENARIOS,
    TELEMETRY,
)
from failbench.commands.shards import CLUSTERS
from failbench.errors import BadInputError
from failbench.methods.llm.settings import Reads
from failbench.params import PARAMS
from failbench.scenarios import Architecture, Optimizer


def main(arguments: list[str] | None = None) -> int:
    """Run the command; bad input ends it with one line on stderr and exit status 2."""
    options = vars(_parser().parse_args(arguments))
    run = options.pop("run")
    try:
        return int(run(**options))
    except BadInputError as error:
        from failbench.readers.lines import clean  # a path may have escapes that a terminal obeys

        print(clean(str(error)), file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="failbench", description="A benchmark of transformer training failures."
    )
    commands = parser.add_subparsers(required=True, metavar="command")

    record = commands.add_parser("record", help="record the runs that are missing or out of date")
    record.add_argument("--architecture", choices=get_args(Architecture), help="only this one")
    record.add_argument("--optimizer", choices=get_args(Optimizer), help="only this one")
    record.add_argument("--scale", choices=("small", "paper"), default="small")
    record.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    record.add_argument("--only", nargs="+", metavar="SCENARIO", help="record only these")
    record.add_argument("--seeds", type=_positive, help="seeds per scenario (default: params.yaml)")
    record.add_argument(
        "--again", nargs="+", metavar="RUN", default=[], help="record these even if known"
    )
    record.add_argument("--workers", type=_positive, help="runs at a time (default: processors)")
    record.add_argument("--minutes", type=float, help="stop cleanly after this many minutes")
    record.add_argument(
        "--signals",
        type=_level,
        metavar="LEVEL",
        help="record once more what a monitor measures in each run: light, standard or full",
    )
    record.add_argument(
        "--from-start",
        action="store_true",
        help="with --signals: of failing runs with their faults on from step 0",
    )
    record.add_argument("--output", type=Path, help=f"folder of telemetry (default: {TELEMETRY})")
    record.add_argument("--known", type=Path, help="telemetry to reuse (default: the output)")
    record.add_argument("--scenarios", type=Path, help=f"their folder (default: {SCENARIOS})")
    _add_faults(record)
    _add_params(record)
    _add_shards(record)
    record.set_defaults(run=_command("cluster", "record"))

    outside = commands.add_parser(
        "outside-list", help="record the bugs that others published, with the monitor"
    )
    outside.add_argument("--only", nargs="+", metavar="BUG", help="record only these")
    outside.add_argument("--output", type=Path, default=OUTSIDE_LIST)
    outside.set_defaults(run=_command("outside_list", "record_outside_list"))
    carry = commands.add_parser(
        "carry", help="renew the fingerprints of runs that the code of today records alike"
    )
    carry.add_argument(
        "--sample", type=_positive, default=60, metavar="RUNS", help="to record again (default: 60)"
    )
    carry.add_argument("--seed", type=int, default=0, help="of the sample's draw (default: 0)")
    carry.add_argument(
        "--except",
        dest="excepted",
        action="extend",
        nargs="+",
        metavar="SCENARIO",
        default=[],
        help="leave out the failing runs of these, which `record` is to record again",
    )
    carry.add_argument("--workers", type=_positive, default=2, help="runs at a time (default: 2)")
    carry.add_argument(
        "--telemetry", type=Path, default=TELEMETRY, metavar="DIR", help=f"(default: {TELEMETRY})"
    )
    carry.set_defaults(run=_command("carry", "carry_fingerprints"))

    diagnose = commands.add_parser(
        "diagnose",
        help="say why a run failed, from its log; with --output, of all runs of a folder",
        description="Say why a training run failed, from a log of any format: the likely cause, "
        "its evidence, what to change, and how sure that is. Exit status: 0 nothing is wrong, 1 a "
        "cause is named, 3 it is not clear, 2 the input cannot be read.",
    )
    diagnose.add_argument("log", type=Path, metavar="LOG", help="a file, a folder, or - for input")
    diagnose.add_argument("--run", dest="run_id", metavar="RUN", help="of a folder of telemetry")
    diagnose.add_argument(
        "--failed", action="store_true", help="the run failed, even if nothing stands out"
    )
    diagnose.add_argument("--config", type=Path, metavar="FILE", help="settings of the training")
    diagnose.add_argument(
        "--code", type=Path, nargs="+", default=[], metavar="FILE", help="Python files, only read"
    )
    diagnose.add_argument(
        "--bounds", type=Path, metavar="FILE", help="of healthy runs, for a monitor's log"
    )
    diagnose.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    diagnose.add_argument("--html", type=Path, metavar="FILE", help="write a page with curves")
    diagnose.add_argument("--plot", type=Path, metavar="FILE", help="write the curves: svg, png")
    diagnose.add_argument(
        "--all", dest="whole", action="store_true", help="show more than fits on a screen"
    )
    batch = diagnose.add_argument_group("all runs of a folder of telemetry, by named methods")
    batch.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="a row per diagnosis: .parquet .csv .json .jsonl",
    )
    batch.add_argument(
        "--method",
        nargs="+",
        metavar="METHOD",
        help="of features, a monitor's recording or raw telemetry (default: simple_rules)",
    )
    batch.add_argument(
        "--features", type=Path, metavar="FILE", help="to learn from (default: the reference's)"
    )
    _add_reference(batch)
    diagnose.set_defaults(run=_command("diagnose_log", "diagnose"))

    read = commands.add_parser("read", help="say what a training log of any format holds")
    read.add_argument("log", type=Path, metavar="LOG", help="a file, a folder, or - for input")
    read.add_argument("--run", dest="run_id", metavar="RUN", help="of a folder of telemetry")
    read.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    read.set_defaults(run=_command("read", "read_any_log"))

    inspect = commands.add_parser(
        "inspect", help="show the course of a log's loss, and a monitor's memory by phase"
    )
    inspect.add_argument("log", type=Path, metavar="LOG", help="a file, a folder, or - for input")
    inspect.add_argument("--run", dest="run_id", metavar="RUN", help="of a folder of telemetry")
    inspect.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    inspect.set_defaults(run=_command("inspect", "inspect_any_log"))

    peers = commands.add_parser("peers", help="ask other tools about the logs of recorded runs")
    peers.add_argument("--telemetry", type=Path, default=TELEMETRY, metavar="DIR")
    peers.add_argument("--output", type=Path, default=PEERS, metavar="FILE")
    peers.set_defaults(run=_command("peers", "ask_peers"))

    inside = commands.add_parser(
        "peers-inside", help="train recorded runs again with a tool in them that reads no logs"
    )
    inside.add_argument("--telemetry", type=Path, default=TELEMETRY, metavar="DIR")
    inside.add_argument("--output", type=Path, default=PEERS_INSIDE, metavar="FILE")
    inside.add_argument("--setting", default="distilbert-adamw", metavar="NAME")
    inside.add_argument("--pairs", type=_positive, metavar="N", help="of the plan (default: all)")
    inside.add_argument("--workers", type=_positive, default=1, metavar="N", help="default: 1")
    inside.add_argument("--minutes", type=float, help="begin no further pair after so long")
    inside.set_defaults(run=_command("inside", "train_with_peer"))

    gradients = commands.add_parser(
        "peers-gradients", help="observe which gradients DEFault++ reads in three steps"
    )
    gradients.add_argument("--output", type=Path, default=PEERS_GRADIENTS, metavar="FILE")
    gradients.set_defaults(run=_command("inside", "observe"))

    score = commands.add_parser(
        "score", help="score methods on recorded runs of causes that they have not learnt from"
    )
    score.add_argument("telemetry", type=Path, metavar="DIR")
    score.add_argument("--method", action="extend", nargs="+", required=True, metavar="NAME")
    score.add_argument("--scenarios", type=Path, help="labels (default: the reference's)")
    score.add_argument("--json", action="store_true", help="print a record for programs")
    _add_reference(score)
    score.set_defaults(run=_command("score", "score_methods"))

    check = commands.add_parser("check", help="check scenarios and telemetry against each other")
    check.add_argument("--telemetry", type=Path, default=TELEMETRY)
    check.add_argument("--scenarios", type=Path, default=SCENARIOS)
    _add_faults(check)
    _add_params(check)
    check.add_argument("--brief", action="store_true", help="leave out the runs that pass")
    check.set_defaults(run=_command("check", "check_benchmark"))

    compare = commands.add_parser(
        "compare", help="compare the results with the committed ones, as another processor may"
    )
    compare.add_argument("--against", metavar="REVISION", default="HEAD")
    compare.set_defaults(run=_command("compare", "compare_results"))

    reruns = commands.add_parser("reruns", help="print what a change of a parameter runs again")
    reruns.add_argument("parameter", metavar="SECTION", help="of params.yaml, or section.key")
    reruns.set_defaults(run=_command("reruns", "print_reruns"))

    freeze = commands.add_parser(
        "freeze", help="freeze catalogue, precedence and bounds of the monitor as a version"
    )
    freeze.add_argument("version", metavar="VERSION")
    freeze.add_argument("--date", type=date.fromisoformat, required=True, help="as 2026-11-22")
    freeze.add_argument("--changed", default="", help="what changed against the version before")
    freeze.add_argument("--why", default="", help="and the reason")
    freeze.set_defaults(run=_command("freeze", "freeze_monitor"))

    tables = commands.add_parser("tables", help="compile all tables into one document")
    tables.add_argument("--output", type=Path, default=Path("paper/tables.pdf"))
    tables.set_defaults(run=_command("tables", "write_tables"))

    llm = commands.add_parser(
        "llm", help="send language models the prompts without a cached answer"
    )
    llm.add_argument("--model", metavar="LABEL", help="only this model of params.yaml")
    llm.add_argument("--host", help="address of the server (default: OLLAMA_HOST, or this machine)")
    llm.add_argument(
        "--limit", type=_positive, metavar="RUNS", help="only the first runs, this many"
    )
    llm.set_defaults(run=_command("llm", "ask_models"))

    prompt = commands.add_parser("prompt", help="print the prompt of a run to language models")
    prompt.add_argument("run_id", metavar="RUN")
    prompt.add_argument(
        "--reads",
        choices=get_args(Reads),
        default="telemetry",
        help="what the prompt shows of the run (default: telemetry, as the paper's models read)",
    )
    prompt.set_defaults(run=_command("llm", "print_prompt"))
    return parser


def _command(module: str, name: str) -> Callable[..., int]:
    """A function of a command, imported when it is called: most bring libraries with them."""

    def run(**options: object) -> int:
        function = getattr(import_module(f"failbench.commands.{module}"), name)
        return int(function(**options))

    return run


def _add_shards(record: argparse.ArgumentParser) -> None:
    parts = record.add_mutually_exclusive_group()
    parts.add_argument("--shard", metavar="I/N", help="only this part of the plan, without tables")
    parts.add_argument("--merge", action="store_true", help="only tables of what shards recorded")
    parts.add_argument("--cluster", choices=CLUSTERS, help="a shard in each job, and the tables")
    record.add_argument("--jobs", type=_positive, metavar="N", help="shards of a cluster")
    record.add_argument(
        "--cluster-options",
        nargs="+",
        metavar="KEY=VALUE",
        default=[],
        help="of its jobs, as submitit names them: timeout_min=60 slurm_partition=NAME",
    )


def _add_faults(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--faults",
        action="extend",
        nargs="+",
        default=[],
        metavar="MODULE",
        help="a file or a module with more faults; may be repeated",
    )


def _add_params(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--params", type=Path, metavar="FILE", help=f"(default: {PARAMS}, or the reference's)"
    )


def _add_reference(command: argparse._ActionsContainer) -> None:
    command.add_argument(
        "--reference",
        type=Path,
        metavar="CHECKOUT",
        help="what to learn from (default: the working directory, or what is installed)",
    )


def _level(text: str) -> str:
    from failbench.monitor.signals import LEVELS  # brings numpy, which few commands need

    if text not in LEVELS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(LEVELS)}")
    return text


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


if __name__ == "__main__":
    sys.exit(main())
