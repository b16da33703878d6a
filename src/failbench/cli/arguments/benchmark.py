"""The arguments of the commands that keep the benchmark and its results."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from failbench.cli.arguments.shared import Commands, add_faults, add_params, command
from failbench.cli.paths import SCENARIOS, TELEMETRY


def add_benchmark_commands(commands: Commands) -> None:
    """Add the commands that keep the benchmark."""
    check = commands.add_parser("check", help="check scenarios and telemetry against each other")
    check.add_argument("--telemetry", type=Path, default=TELEMETRY)
    check.add_argument("--scenarios", type=Path, default=SCENARIOS)
    add_faults(check)
    add_params(check)
    check.add_argument("--brief", action="store_true", help="leave out the runs that pass")
    check.set_defaults(run=command("check", "check_benchmark"))

    compare = commands.add_parser(
        "compare", help="compare the results with the committed ones, as another processor may"
    )
    compare.add_argument("--against", metavar="REVISION", default="HEAD")
    compare.set_defaults(run=command("compare", "compare_results"))

    reruns = commands.add_parser("reruns", help="print what a change of a parameter runs again")
    reruns.add_argument("parameter", metavar="SECTION", help="of params.yaml, or section.key")
    reruns.set_defaults(run=command("reruns", "print_reruns"))

    freeze = commands.add_parser(
        "freeze", help="freeze catalogue, precedence and bounds of the monitor as a version"
    )
    freeze.add_argument("version", metavar="VERSION")
    freeze.add_argument("--date", type=date.fromisoformat, required=True, help="as 2026-11-22")
    freeze.add_argument("--changed", default="", help="what changed against the version before")
    freeze.add_argument("--why", default="", help="and the reason")
    freeze.set_defaults(run=command("freeze", "freeze_monitor"))
