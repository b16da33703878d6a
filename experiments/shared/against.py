"""Pairs of logs of one program: how far healthy ones are apart, and whether failing ones part."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from failbench.diagnose.against import (
    Apart,
    Spread,
    apart,
    fitted_spreads,
    furthest,
    parts,
    place_of_parting,
    stops_early,
    telling,
)
from failbench.diagnose.curves import curves_of
from failbench.diagnose.signs import Sign, any_alarm, signs_of
from failbench.field.corpus import consoles
from failbench.field.recorder import Run
from shared.diagnose_logs import AGAINST_SCHEMA

SAME_SEED, OTHER_SEED = "same seed", "other seed"
# of a program of the field: which run is held against which
_OF_FIELD: Final[tuple[tuple[Run, Run, str], ...]] = (
    ("run", "healthy", SAME_SEED), ("run", "other_seed", OTHER_SEED),
    ("healthy", "other_seed", OTHER_SEED), ("other_seed", "healthy", OTHER_SEED),
)  # fmt: skip


class Pair(NamedTuple):
    """A log beside that of a run that worked: ``other`` says by what that differs."""

    corpus: str
    log: str
    group: str
    part: str
    other: str
    fails: bool
    says: bool
    apart: tuple[Apart, ...]


def field_pairs(data: Path) -> Iterator[Pair]:
    """Pairs of the programs for development."""
    read = {
        (each.program.name, each.run): (each, each.read()) for each in consoles(data, "development")
    }
    curves = {key: curves_of(log) for key, (_, log) in read.items()}
    signs = {key: signs_of(log) for key, (_, log) in read.items()}
    for (name, run), (console, _) in read.items():
        for first, second, other in _OF_FIELD:
            if run != first or (name, second) not in read:
                continue
            card = console.program.card
            yield Pair(
                "field", console.name, card.author, card.kind, other, run == "run",
                _says(signs[name, run], signs[name, second]),
                tuple(apart(curves[name, run], curves[name, second])),
            )  # fmt: skip


def benchmark_pairs(examples: Iterable[Mapping[str, Any]], seeds: Sequence[int]) -> Iterator[Pair]:
    """Pairs of the benchmark's complete logs, of the first two seeds."""
    logs = {
        (each["scenario"], each["setting"], each["kind"], each["seed"]): each for each in examples
    }
    first, second = seeds[:2]
    for (scenario, setting, kind, seed), each in logs.items():
        if seed != first or kind == "success":
            continue
        for other_seed, other in ((first, SAME_SEED), (second, OTHER_SEED)):
            good = logs.get((scenario, setting, "twin", other_seed))
            if good is not None and good is not each:
                yield Pair(
                    "benchmark", each["run_id"], setting, "complete", other, kind == "failure",
                    _says(each["signs"], good["signs"]),
                    tuple(apart(each["curves"], good["curves"])),
                )  # fmt: skip


def _says(signs: Sequence[Sign], of_good: Sequence[Sign]) -> bool:
    ended = any(sign.kind in ("message", "event") and not sign.is_warning for sign in signs)
    return ended or any_alarm(telling(signs, of_good), {})


def against_table(pairs: Sequence[Pair]) -> tuple[pl.DataFrame, list[Spread]]:
    """Which pairs part by limits of others, and the limits of all healthy pairs."""
    units = [furthest(pair.apart) for pair in pairs]
    healthy = [
        (pair.group, each) for pair, each in zip(pairs, units, strict=True) if not pair.fails
    ]
    limits_of = {
        group: {
            each.role: each.limit
            for each in fitted_spreads([one for by, one in healthy if by != group])
        }
        for group in {pair.group for pair in pairs}
    }
    rows = []
    for pair, each in zip(pairs, units, strict=True):
        limits = limits_of[pair.group]
        rows.append({
            **pair._asdict(), "compared": len(pair.apart), "parts": parts(each, limits),
            "stops": stops_early(pair.apart), "at": place_of_parting(pair.apart, limits),
        })  # fmt: skip
    table = pl.DataFrame(rows, schema=AGAINST_SCHEMA).sort("corpus", "log", "other")
    return table, fitted_spreads([each for _, each in healthy])
