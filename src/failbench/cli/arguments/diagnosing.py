"""The arguments of the commands that look at a training, its log or its answers."""

from __future__ import annotations

from pathlib import Path

from failbench.cli.arguments.shared import Commands, add_predictors, add_reference, command

LENSES = ("surface", "fft", "compression", "hazard", "synthesis")
"""The last is the four others together; named here, as naming them imports nothing."""


def add_diagnosing_commands(commands: Commands) -> None:
    """Add the commands that look at a training."""
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
    add_reference(batch)
    diagnose.set_defaults(run=command("diagnose_log", "diagnose"))

    foresee = commands.add_parser(
        "foresee",
        help="say whether the next cell of a notebook will crash",
        description="Say whether a cell of a notebook will crash, from the code and from what the "
        "kernel holds before it: the cells before are executed in a kernel without a network. Exit "
        "status: 0 no crash is foreseen, 1 one is, 2 the input cannot be read.",
    )
    foresee.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    foresee.add_argument(
        "--target",
        type=int,
        metavar="INDEX",
        help="of the cell, among all from 0 (default: the next that would be executed)",
    )
    foresee.add_argument(
        "--summary", type=Path, metavar="FILE", help="what the kernel holds, as docs/notebooks.md"
    )
    foresee.add_argument(
        "--files", type=Path, metavar="FOLDER", help="data that the cells read, copied beside them"
    )
    foresee.add_argument(
        "--code-only", action="store_true", help="execute no cell, and read the code alone"
    )
    add_predictors(foresee, usual="rules and dry_run")
    foresee.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    foresee.set_defaults(run=command("crashes", "foresee"))

    read = commands.add_parser("read", help="say what a training log of any format holds")
    read.add_argument("log", type=Path, metavar="LOG", help="a file, a folder, or - for input")
    read.add_argument("--run", dest="run_id", metavar="RUN", help="of a folder of telemetry")
    read.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    read.set_defaults(run=command("read", "read_any_log"))

    inspect = commands.add_parser(
        "inspect", help="show the course of a log's loss, and a monitor's memory by phase"
    )
    inspect.add_argument("log", type=Path, metavar="LOG", help="a file, a folder, or - for input")
    inspect.add_argument("--run", dest="run_id", metavar="RUN", help="of a folder of telemetry")
    inspect.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    inspect.set_defaults(run=command("inspect", "inspect_any_log"))

    before = commands.add_parser(
        "preflight",
        help="say what will crash in a training step before it is taken",
        description="Say what will crash, or cannot work, in the first step of a training, before "
        "it is taken. The file is imported, in this process: it is your own code that runs. Exit "
        "status: 0 nothing stands out, 1 it will fail, 3 something to look at, 2 bad input.",
    )
    before.add_argument(
        "target",
        metavar="FILE.py[:FUNCTION]",
        help="the function (preflight or build, unless named) returns model, optimizer, loss and "
        "batch, as a tuple or a dict",
    )
    before.add_argument(
        "--capacity",
        metavar="BYTES",
        help="memory of the training, as 16GiB (default: what is free)",
    )
    before.add_argument(
        "--real-step", action="store_true", help="take one real step on a copy as well"
    )
    before.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    before.set_defaults(run=command("preflight", "run_preflight"))

    lens = commands.add_parser(
        "lens", help="say how a model's reasoning fails, from traces of its answers"
    )
    lens.add_argument("lens", choices=LENSES, help="where, how shown, how processed, when, or all")
    lens.add_argument("traces", type=Path, metavar="FILE", help=".parquet, .csv, .jsonl")
    lens.add_argument(
        "--where",
        action="extend",
        nargs="+",
        default=[],
        metavar="COLUMN=VALUES",
        help="only these: task=arithmetic length=4..8 model=a,b",
    )
    lens.add_argument("--against", metavar="MODEL", help="compare the others with this one")
    lens.add_argument("--json", dest="as_json", action="store_true", help="for programs")
    lens.add_argument("--figure", type=Path, metavar="FILE", help="draw what was seen: svg, png")
    lens.set_defaults(run=command("lens", "look_at_traces"))

    score = commands.add_parser(
        "score", help="score methods on recorded runs of causes that they have not learnt from"
    )
    score.add_argument("telemetry", type=Path, metavar="DIR")
    score.add_argument("--method", action="extend", nargs="+", required=True, metavar="NAME")
    score.add_argument("--scenarios", type=Path, help="labels (default: the reference's)")
    score.add_argument("--json", action="store_true", help="print a record for programs")
    add_reference(score)
    score.set_defaults(run=command("score", "score_methods"))
