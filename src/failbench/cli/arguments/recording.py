"""The arguments of the commands that record."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from failbench.base.methods import Reads
from failbench.base.scenarios import Architecture, Optimizer
from failbench.cli.arguments.shared import (
    Commands,
    add_faults,
    add_params,
    add_predictors,
    command,
    level,
    positive,
)
from failbench.cli.paths import (
    CRASHES,
    EXTERNAL_DEFAULT,
    NOTEBOOKS,
    OUTSIDE_LIST,
    PEERS,
    PEERS_GRADIENTS,
    PEERS_INSIDE,
    PREFLIGHT,
    REASONING,
    REASONING_WORK,
    SCENARIOS,
    TELEMETRY,
)
from failbench.cli.shards import CLUSTERS


def add_recording_commands(commands: Commands) -> None:
    """Add the commands that record."""
    record = commands.add_parser("record", help="record the runs that are missing or out of date")
    record.add_argument("--architecture", choices=get_args(Architecture), help="only this one")
    record.add_argument("--optimizer", choices=get_args(Optimizer), help="only this one")
    record.add_argument("--scale", choices=("small", "paper"), default="small")
    record.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    record.add_argument("--only", nargs="+", metavar="SCENARIO", help="record only these")
    record.add_argument("--seeds", type=positive, help="seeds per scenario (default: params.yaml)")
    record.add_argument(
        "--again", nargs="+", metavar="RUN", default=[], help="record these even if known"
    )
    record.add_argument("--workers", type=positive, help="runs at a time (default: processors)")
    record.add_argument("--minutes", type=float, help="stop cleanly after this many minutes")
    record.add_argument(
        "--signals",
        type=level,
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
    add_faults(record)
    add_params(record)
    _add_shards(record)
    record.set_defaults(run=command("cluster", "record"))

    carry = commands.add_parser(
        "carry", help="renew the fingerprints of runs that the code of today records alike"
    )
    carry.add_argument(
        "--sample", type=positive, default=60, metavar="RUNS", help="to record again (default: 60)"
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
    carry.add_argument("--workers", type=positive, default=2, help="runs at a time (default: 2)")
    carry.add_argument(
        "--telemetry", type=Path, default=TELEMETRY, metavar="DIR", help=f"(default: {TELEMETRY})"
    )
    carry.set_defaults(run=command("carry", "carry_fingerprints"))

    outside = commands.add_parser(
        "outside-list", help="record the bugs that others published, with the monitor"
    )
    outside.add_argument("--only", nargs="+", metavar="BUG", help="record only these")
    outside.add_argument("--output", type=Path, default=OUTSIDE_LIST)
    outside.set_defaults(run=command("outside_list", "record_outside_list"))

    external = commands.add_parser(
        "external-default",
        help="make the compact copy of DEFault's released tables from their CSV files",
    )
    external.add_argument("folder", type=Path, metavar="FOLDER", help="with the released files")
    external.add_argument("--output", type=Path, default=EXTERNAL_DEFAULT)
    external.set_defaults(run=command("external_default", "copy_external_default"))

    notebooks = commands.add_parser(
        "notebooks", help="execute the notebooks of the corpus in live kernels, where due"
    )
    notebooks.add_argument("--only", nargs="+", metavar="PAIR", help="record these, and again")
    notebooks.add_argument("--corpus", type=Path, default=NOTEBOOKS, metavar="DIR")
    notebooks.add_argument("--output", type=Path, metavar="DIR", help="(default: the corpus)")
    notebooks.set_defaults(run=command("notebooks", "record_notebooks"))

    reasoning = commands.add_parser(
        "reasoning", help="train small models in known conditions, and record what they answer"
    )
    reasoning.add_argument("--output", type=Path, default=REASONING, metavar="DIR")
    reasoning.add_argument("--work", type=Path, default=REASONING_WORK, metavar="DIR")
    reasoning.add_argument(
        "--workers", type=positive, default=1, help="models at a time (default: 1)"
    )
    reasoning.add_argument("--again", action="store_true", help="also those that are known")
    reasoning.set_defaults(run=command("reasoning", "record_reasoning"))

    peers = commands.add_parser("peers", help="ask other tools about the logs of recorded runs")
    peers.add_argument("--telemetry", type=Path, default=TELEMETRY, metavar="DIR")
    peers.add_argument("--output", type=Path, default=PEERS, metavar="FILE")
    peers.set_defaults(run=command("peers", "ask_peers"))

    inside = commands.add_parser(
        "peers-inside", help="train recorded runs again with a tool in them that reads no logs"
    )
    inside.add_argument("--telemetry", type=Path, default=TELEMETRY, metavar="DIR")
    inside.add_argument("--output", type=Path, default=PEERS_INSIDE, metavar="FILE")
    inside.add_argument("--setting", default="distilbert-adamw", metavar="NAME")
    inside.add_argument("--pairs", type=positive, metavar="N", help="of the plan (default: all)")
    inside.add_argument("--workers", type=positive, default=1, metavar="N", help="default: 1")
    inside.add_argument("--minutes", type=float, help="begin no further pair after so long")
    inside.set_defaults(run=command("inside", "train_with_peer"))

    gradients = commands.add_parser(
        "peers-gradients", help="observe which gradients DEFault++ reads in three steps"
    )
    gradients.add_argument("--output", type=Path, default=PEERS_GRADIENTS, metavar="FILE")
    gradients.set_defaults(run=command("inside", "observe"))

    recorded = commands.add_parser(
        "preflight-runs", help="record what a preflight says of recorded runs (30 minutes)"
    )
    recorded.add_argument("--output", type=Path, default=PREFLIGHT, metavar="FILE")
    recorded.set_defaults(run=command("preflighted", "record_preflights"))

    crashes = commands.add_parser(
        "crashes", help="ask predictors of crashes about the notebooks of the corpus (15 minutes)"
    )
    add_predictors(crashes, usual="all that are recorded")
    crashes.add_argument("--corpus", type=Path, default=NOTEBOOKS, metavar="FOLDER")
    crashes.add_argument("--output", type=Path, default=CRASHES, metavar="FILE")
    crashes.set_defaults(run=command("crashes", "record_crashes"))

    llm = commands.add_parser(
        "llm", help="send language models the prompts without a cached answer"
    )
    llm.add_argument("--model", metavar="LABEL", help="only this model of params.yaml")
    llm.add_argument("--host", help="address of the server (default: OLLAMA_HOST, or this machine)")
    llm.add_argument(
        "--limit", type=positive, metavar="N", help="only the first runs or notebooks, this many"
    )
    llm.add_argument(
        "--crashes", action="store_true", help="ask about crashes of notebooks, in all arms"
    )
    llm.set_defaults(run=command("llm", "ask_models"))

    prompt = commands.add_parser("prompt", help="print the prompt of a run to language models")
    prompt.add_argument("run_id", metavar="RUN")
    prompt.add_argument(
        "--reads",
        choices=get_args(Reads),
        default="telemetry",
        help="what the prompt shows of the run (default: telemetry, as the paper's models read)",
    )
    prompt.set_defaults(run=command("llm", "print_prompt"))


def _add_shards(record: argparse.ArgumentParser) -> None:
    parts = record.add_mutually_exclusive_group()
    parts.add_argument("--shard", metavar="I/N", help="only this part of the plan, without tables")
    parts.add_argument("--merge", action="store_true", help="only tables of what shards recorded")
    parts.add_argument("--cluster", choices=CLUSTERS, help="a shard in each job, and the tables")
    record.add_argument("--jobs", type=positive, metavar="N", help="shards of a cluster")
    record.add_argument(
        "--cluster-options",
        nargs="+",
        metavar="KEY=VALUE",
        default=[],
        help="of its jobs, as submitit names them: timeout_min=60 slurm_partition=NAME",
    )
