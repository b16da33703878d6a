"""Reading: how many of the numbers that a log shows are read, under their names and of their steps.

Programs of the field say what they log. What a rendered log shows is told here once more, from the
run and the shape of the log: in the units of its format, and without what it leaves out.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from failbench.base.telemetry import Telemetry
from failbench.diagnose.declared import RELATIVE, Declared, score
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.names import POSITIONS, SIGNALS, Meaning, SignalName, meaning
from failbench.field.corpus import TABLE, consoles
from failbench.field.programs import Part
from failbench.neighbours.rendering import files, formats, printed
from failbench.neighbours.rendering import run as rn
from shared.diagnose_logs import READING_SCHEMA

ALL: Final = "all"  # of the field this row alone has steps and what is invented
_COUNTS: Final = ("values", "read", "steps_in_text", "steps_read", "invented", "logs")
_HELD_OUT: Final = "validation loss"
_FROM_ONE: Final = ("megatron", "fairseq", "llm_c", "torchtune", "torchtitan")  # count steps so
_AFTER: Final = (*_FROM_ONE, "composer", "lightning_csv", "lightning_bar")  # log after so many
_MEANS: Final[dict[str, tuple[SignalName, ...]]] = {
    "megatron": ("loss",), "fairseq": ("loss", "grad_norm", "throughput"),
}  # fmt: skip
# units that no line names: bytes of memory, and of losses nats of a bit
_UNITS: Final = {"composer": 1e9, "torchtune": 2.0**30, "fairseq": math.log(2)}
_LARGEST: Final = 20  # losses above it have the perplexity of this one in Megatron
_ROUNDED: Final = (".0f", ".1f", ".2f", ".3f", ".4f", ".6f", ".2e", ".3g")  # to fewest digits


class Value(NamedTuple):
    """A number that a log shows: of what, at which step or epoch (NaN if unsaid), how much."""

    of: str
    at: float
    value: float


def field_reading(numbers: pl.DataFrame, data: Path, part: Part) -> pl.DataFrame:
    """What is read of the numbers that programs of a part declared, by how lines are written."""
    tables = numbers.partition_by("program", "run", as_dict=True)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for console in consoles(data, part):
        rows = tables.get((console.program.name, console.run), pl.DataFrame(schema=TABLE.schema))
        declared = [*map(Declared._make, rows.select(Declared._fields).iter_rows())]
        told = score(console.printed(), console.read().numbers, declared)
        for form, (in_text, read) in told.formats.items():
            counts[form].update(values=in_text, read=read, logs=1)
        whole = (told.in_text, told.read, *told.with_step, told.invented.total(), 1)
        counts[ALL].update(dict(zip(_COUNTS, whole, strict=True)))
    return _table("field", counts)


def rendering_reading(telemetry: Telemetry, runs: int, seed: int) -> pl.DataFrame:
    """What is read of some runs, each rendered in every format with a shape drawn for it."""
    rng = np.random.default_rng(seed)
    ids = telemetry.runs["run_id"].sort().to_list()
    taken = [ids[at] for at in sorted(rng.choice(len(ids), min(runs, len(ids)), replace=False))]
    drawn = telemetry.select(pl.col("run_id").is_in(taken))
    steps = drawn.steps.partition_by("run_id", as_dict=True)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with TemporaryDirectory() as folder:
        for run in drawn.runs.iter_rows(named=True):
            last = run["failure_step"] if run["kind"] == "failure" else None
            logged = rn.logged_run(run, steps.get((run["run_id"],), drawn.steps.clear()), last)
            for form in formats.FORMATS:
                log = rn.Writer(logged, rn.draw_shape(form, rng), deepcopy(rng))
                written = formats.rendered(logged, form, log.shape, rng)
                found = compared(
                    shown(log, form, written), formats.read_files(written, Path(folder))
                )
                for row in (form, ALL):
                    counts[row].update(found)
    return _table("benchmark", counts)


def _table(corpus: str, counts: Mapping[str, Counter[str]]) -> pl.DataFrame:
    rows = [{"corpus": corpus, "format": form, **of} for form, of in sorted(counts.items())]
    return pl.DataFrame(rows, READING_SCHEMA)


def compared(values: Iterable[Value], log: Log) -> Counter[str]:
    """How many values of a log are read, and of their steps; a number that is read counts once.

    Invented is what is read as a signal and shows no value, or stands where nothing shows one.
    """
    numbers, names = log.numbers, [log.numbers.names[place] for place in log.numbers.name]
    read, steps, records = numbers.value.tolist(), numbers.step.tolist(), numbers.record.tolist()
    at_step: dict[tuple[str, float], list[int]] = defaultdict(list)
    of_name: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        of = _of(name.text, name.meaning)
        at_step[of, steps[place]].append(place)
        of_name[of].append(place)
    used: set[int] = set()

    def takes(value: float, places: Sequence[int]) -> bool:
        for place in places:
            if place not in used and _shows(read[place], value / names[place].factor):
                used.add(place)
                return True
        return False

    all_values = list(values)
    # all of their steps first, so that none takes what shows another
    missed = [each for each in all_values if not takes(each.value, at_step[each.of, each.at])]
    others = sum(takes(each.value, of_name[each.of]) for each in missed)
    told = {records[place] for place in used}
    means = [name.meaning.of if name.meaning else "" for name in names]
    invented = sum(
        place not in used
        and (of in SIGNALS or (of not in POSITIONS and records[place] not in told))
        for place, of in enumerate(means)
    )
    right = len(all_values) - len(missed)
    said = sum(each.at == each.at for each in all_values)
    counts = (len(all_values), right + others, said, right, invented, 1)
    return Counter(dict(zip(_COUNTS, counts, strict=True)))


def _of(name: str, found: Meaning | None) -> str:
    if found is None or found.of in POSITIONS:
        return name
    return f"{found.split} {found.of}" if found.split == "validation" else found.of


def _shows(read: float, value: float) -> bool:
    """Whether a number is a value, or is what a format that rounds it prints."""
    if read == value or (read != read and value != value):
        return True
    near = abs(read - value) <= RELATIVE * abs(value)
    return near or any(read == float(f"{value:{digits}}") for digits in _ROUNDED)


def shown(log: rn.Writer, form: str, written: rn.Files) -> Iterator[Value]:
    """The values that the files of a rendered log show."""
    if form.startswith("trainer"):
        yield from _of_trainer(log, form, written)
    elif form == "keras":
        yield from _of_keras(log)
    else:
        values = [*_of_entries(log, form, written)]
        if form == "tensorboard":  # 32 bits each; of a killed process the last record is cut off
            with np.errstate(over="ignore"):
                values = [each._replace(value=float(np.float32(each.value))) for each in values]
            del values[len(values) - (log.run.ending.kind == "death") :]
        yield from values
        if form == "wandb_folder":  # a summary has what was last
            last = {each.of: each.value for each in values}
            yield from (Value(of, float(log.run.steps[-1]), last[of]) for of in last)


def _of_entries(log: rn.Writer, form: str, written: rn.Files) -> Iterator[Value]:
    run, before, entries = log.run, -1, list(log.entries(form in _AFTER))
    if form == "traceback_alone":
        lines = printed.own_lines(log, rn.draw_names(log.rng), ": ", " | ")
        pasted = written[rn.FILE].decode()
        entries = [each for each, line in zip(entries, lines, strict=True) if line in pasted]
    elif form == "lightning_csv" and run.ending.kind in ("death", "silence"):
        kept = len(run.steps) // files.FLUSH * files.FLUSH
        entries = [each for each in entries if each.step < kept]
    names = rn.draw_names(log.rng) if form == "wandb_export" else {}
    for entry in entries:
        at = float(entry.step + (form in _FROM_ONE))
        if form == "lightning_bar":  # of a full bar the epoch is read
            epoch, within = divmod(entry.step, run.steps_per_epoch)
            at = float(epoch if within + 1 == run.steps_per_epoch else within + 1)
        for of, value in _pairs(log, form, entry, before):
            # over losses on held-out data Composer says the step beside a training loss alone
            is_unsaid = form == "composer" and of == _HELD_OUT and not entry.values
            if value is not None:
                yield Value(of, math.nan if is_unsaid else at, value)
        for name, value in entry.measured.items() if names else ():
            for column in (f"{names[name]}__MIN", f"{names[name]}__MAX"):
                yield Value(_of(column, meaning(column)), at, value)
        before = entry.index if entry.values else before


def _pairs(
    log: rn.Writer, form: str, entry: rn.Entry, before: int
) -> Iterator[tuple[str, float | None]]:
    """What is shown of an entry, by its name; some formats have means since the last line."""
    signals, held_out, unit = log.run.signals, entry.validation, _UNITS.get(form, 1.0)
    values: dict[str, float | None] = {**entry.values}
    if values:
        means: dict[str, float] = {
            of: rn.mean_since(signals[of], before, entry.index) for of in _MEANS.get(form, ())
        }
        values |= means
        if form == "fairseq":
            rounded = round(means["loss"] / unit, 3)
            values |= {"loss": rounded, "perplexity": rn.perplexity(rounded * unit)}
        if form == "megatron" and not means["loss"] > 0:
            del values["loss"]
        if "memory" in entry.values:
            values["memory"] = entry.values["memory"] / unit
    yield from values.items()
    if form == "torchtune" and log.shape.bars:
        yield "loss", values.get("loss")
    if form == "lightning_bar" and log.shape.validation:  # the last goes with all that follow
        known = [each for each in log.run.validation[: entry.index + 1] if each is not None]
        held_out = known[-1] if known and values else None
    if held_out is not None:
        yield _HELD_OUT, held_out / (unit if form == "fairseq" else 1.0)
        if form == "nanogpt":
            yield "loss", signals["loss"][entry.index]
        if form in ("megatron", "fairseq"):
            taken = (
                min(held_out, _LARGEST) if form == "megatron" else round(held_out / unit, 3) * unit
            )
            yield "validation perplexity", rn.perplexity(taken)


def _of_trainer(log: rn.Writer, form: str, written: rn.Files) -> Iterator[Value]:
    state = next((written[name] for name in written if name.endswith("state.json")), b"{}")
    saved, terminal = json.loads(state).get("global_step", 0), written.get(rn.FILE, b"")
    rounds = form == "trainer_v4" or (form == "trainer_state" and b"loss': '" not in terminal)
    for row in files.log_history(log, rounded=False):
        epoch = round(row["epoch"], 2) if rounds else float(f"{row['epoch']:.4g}")
        for name in row.keys() - {"epoch", "step", "total_flos"}:
            of = _of(name, meaning(name))
            if row["step"] <= saved:
                yield Value(of, float(row["step"]), row[name])
            if terminal:
                yield Value(of, epoch, row[name])


def _of_keras(log: rn.Writer) -> Iterator[Value]:
    run, size, shape = log.run, log.run.steps_per_epoch, log.shape
    logged = {*shape.signals, *([_HELD_OUT] if shape.validation else [])}
    for index, step in enumerate(run.steps):
        (epoch, within), begin = divmod(step, size), max(0, index - step % size)
        loss = rn.mean_since(run.signals["loss"], begin - 1, index)  # of the epoch so far
        values = {"loss": loss, "perplexity": rn.perplexity(loss)}
        if is_over := within + 1 == size:
            known = [each for each in run.validation[begin : index + 1] if each is not None]
            values[_HELD_OUT] = known[-1] if known else None
            values["learning_rate"] = run.signals["learning_rate"][index]
        if is_over or (within + 1) % shape.every == 0:
            at = float(epoch + 1 if is_over else within + 1)  # of a full bar the epoch is read
            yield from (
                Value(of, at, value)
                for of, value in values.items()
                if value is not None and of in logged
            )
