"""What training libraries and loops print: ``data/lines.json``, and what is derived for it."""

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from failbench.diagnose.readers.names import SignalName
from failbench.neighbours.rendering.run import (
    Files,
    Writer,
    as_file,
    bar,
    draw_names,
    mean_since,
    perplexity,
)
from failbench.neighbours.rendering.tracebacks import declared

_GIBIBYTE: Final = 2**30
_MEBIBYTE: Final = 2**20
_GIGABYTE: Final = 1e9
_WINDOW: Final = 128  # values of which llm.c takes mean and spread (``llmc/outlier_detector.h``)
_LARGEST_PPL: Final = 20  # losses above it give the perplexity of this one in Megatron
_CAPACITY: Final = 16 * _GIBIBYTE  # of the device of which torchtitan prints the share
_NAT: Final = math.log(2)  # nats of a bit: fairseq logs losses in bits
_SMALL: Final = 1e-3  # below it Keras writes powers of ten
_WIDTH: Final = 20  # letters of the bar of Keras
# what goes before a line of one's own: nothing where it is printed, else what logging puts
_LOGGING: Final = ("", "", "", "2026-03-14 10:41:07 INFO ", "INFO:train:", "[10:41:07] ")


class Outliers:
    """How far a value lies from the last ones; not a number until there are enough of them."""

    def __init__(self) -> None:
        self._values: deque[float] = deque()
        self._sum = self._squares = 0.0

    def score(self, value: float) -> float:
        """The value's distance from the mean, in standard deviations."""
        if math.isnan(value):
            return math.nan
        if len(self._values) == _WINDOW:
            old = self._values.popleft()
            self._sum -= old
            self._squares -= old * old
        self._values.append(value)
        self._sum += value
        self._squares += value * value
        if len(self._values) < _WINDOW:
            return math.nan
        mean = self._sum / _WINDOW
        variance = self._squares / _WINDOW - mean * mean
        return (value - mean) / math.sqrt(variance) if variance > 0 else 0.0


class Moment(dict[str, Any]):
    """What a library knows after a step; what is derived is computed where a line has it."""

    def __missing__(self, name: str) -> Any:
        return DERIVED[name](self)

    def mean(self, signal: SignalName) -> float:
        """The mean of a signal since the last line."""
        return mean_since(self["run"].signals[signal], self["last"], self["index"])


def _bits_perplexity(bits: float) -> float:
    """Two to the power of a loss, in two digits behind the point; infinite if too large."""
    try:
        return round(math.pow(2, round(bits, 3)), 2)
    except OverflowError:
        return math.inf


def _composer(moment: Moment) -> str:
    """What its callbacks measure, under their names; memory in gigabytes."""
    names = declared("lines.json")["composer"]["names"]
    factors = {"memory": 1 / _GIGABYTE}
    return "".join(
        f"\n\t Train {name}: {factors.get(signal, 1.0) * moment[signal]:.4f}"
        for signal, name in names.items()
        if signal in moment
    )


def _torchtune(moment: Moment) -> str:
    measured = {
        "loss": moment["loss"],
        "lr": moment["learning_rate"],
        "tokens_per_second_per_gpu": moment["throughput"],
        "peak_memory_active": moment["gibibytes"],
        "grad_norm": moment.get("grad_norm"),
    }
    return "".join(f"{name}:{value} " for name, value in measured.items() if value is not None)


DERIVED: Final[dict[str, Callable[[Moment], object]]] = {
    "number": lambda now: now["step"] + 1,
    "epoch_number": lambda now: now["step"] // now["size"] + 1,
    "within": lambda now: now["step"] % now["size"] + 1,
    "samples": lambda now: now["number"] * now["sequences"],
    "milliseconds": lambda now: 1000 * now["run"].seconds[now["index"]],
    "mean_milliseconds": lambda now: (
        1000 * mean_since(now["run"].seconds, now["last"], now["index"])
    ),
    "wall": lambda now: sum(now["run"].seconds[: now["number"]]),
    "loss": lambda now: now["run"].signals["loss"][now["index"]],
    "throughput": lambda _: 0.0,
    "gibibytes": lambda now: now["memory"] / _GIBIBYTE,
    "share_of_device": lambda now: 100 * now["memory"] / _CAPACITY,
    "nanogpt_mfu": lambda now: "-100.00" if now["step"] < 5 else "1.27",
    "megatron_loss": lambda now: (
        f" lm loss: {loss:.6E} |" if (loss := now.mean("loss")) > 0 else ""
    ),
    "megatron_perplexity": lambda now: math.exp(min(_LARGEST_PPL, now["validation"])),
    "megatron_validation": lambda now: (
        f" validation loss at iteration {now['number']} | lm loss value: {now['validation']:.6E} | "
        f"lm loss PPL: {now['megatron_perplexity']:.6E} | "
    ),
    "megatron_rule": lambda now: "-" * (len(now["megatron_validation"]) + 1),
    "loss_deviations": lambda now: now["outliers"]["loss"].score(now["loss"]),
    "grad_norm_deviations": lambda now: now["outliers"]["grad_norm"].score(now["grad_norm"]),
    "bits": lambda now: round(now["validation"] / _NAT, 3),
    "bits_perplexity": lambda now: _bits_perplexity(now["validation"] / _NAT),
    "mean_bits": lambda now: round(now.mean("loss") / _NAT, 3),
    "mean_bits_perplexity": lambda now: _bits_perplexity(now.mean("loss") / _NAT),
    "mean_throughput": lambda now: round(now.mean("throughput"), 1),
    "mean_grad_norm": lambda now: round(now.mean("grad_norm"), 3),
    "composer": _composer,
    "torchtune": _torchtune,
    "torchtune_bar": lambda now: (
        f"{now['epoch_number']}|{now['number']}|Loss: {now['loss']}: "
        f"{bar(now['within'], now['size'], now['speed'])}\n"
        if now["bars"]
        else ""
    ),
}


def library_lines(log: Writer, name: str) -> Iterator[str]:
    """The lines of a library, as ``data/lines.json`` has them."""
    lines = declared("lines.json")[name]
    of_run = {
        "run": log.run,
        "planned": log.run.planned_steps,
        "sequences": log.run.sequences,
        "size": log.run.steps_per_epoch,
        "outliers": {"loss": Outliers(), "grad_norm": Outliers()},
        "bars": log.shape.bars,
        "speed": float(log.rng.uniform(1, 20)) if name == "torchtune" else None,
    }
    last = -1
    for entry in log.entries(lines.get("first", 0)):
        place = {"index": entry.index, "step": entry.step, "last": last}
        moment = Moment({**of_run, **place, **entry.measured})
        there = {"entry": bool(entry.values), "validation": entry.validation is not None}
        for kind, line in lines.items():
            if there.get(kind):
                yield from line.format_map(moment).split("\n")
        if entry.values:
            last = entry.index


def lightning_bar(log: Writer) -> Iterator[str]:
    """The progress bar, of which each state is a line, as it is where output is redirected."""
    names = {"loss": "train_loss", "learning_rate": "lr", "perplexity": "train_perplexity"}
    latest = ""
    speed = float(log.rng.uniform(2, 40))
    for entry in log.entries(first=1):
        epoch, within = divmod(entry.step, log.run.steps_per_epoch)
        if entry.validation is not None:
            latest = f", val_loss={_three(entry.validation)}"
        if entry.values:
            shown = "".join(f", {names[name]}={_three(one)}" for name, one in entry.values.items())
            state = bar(within + 1, log.run.steps_per_epoch, speed)[:-1]
            yield f"Epoch {epoch}: {state}, v_num=0{shown}{latest}]"


def _three(value: float) -> str:
    """A number as ``tqdm.format_num`` shows it, or with the zeros that Lightning adds.

    >>> _three(2.5), _three(0.00012345)
    ('2.500', '0.000123')
    """
    text = f"{value:.3g}"
    return text.ljust(5, "0") if "." in text and "e" not in text else text


def keras(log: Writer) -> Iterator[str]:
    """Bars of epochs, with the mean of the epoch so far; what was held out at its end."""
    size = log.run.steps_per_epoch
    total, count, held_out = 0.0, 0, None
    for entry in replace(log, shape=replace(log.shape, every=1)).entries():
        epoch, within = divmod(entry.step, size)
        if within == 0 or not count:
            yield f"Epoch {epoch + 1}/{math.ceil(log.run.planned_steps / size)}"
            total, count, held_out = 0.0, 0, None
        total, count = total + entry.values.get("loss", math.nan), count + 1
        held_out = held_out if entry.validation is None else entry.validation
        over = within + 1 == size
        if not over and (within + 1) % log.shape.every:
            continue
        shown = {
            "loss": total / count,
            "perplexity": perplexity(total / count) if "perplexity" in log.shape.signals else None,
            "val_loss": held_out if over else None,
            "learning_rate": entry.values.get("learning_rate") if over else None,
        }
        full = _WIDTH * (within + 1) // size
        state = f"\x1b[32m{'━' * full}\x1b[0m\x1b[37m{'━' * (_WIDTH - full)}\x1b[0m"
        values = "".join(
            f" - {name}: {value:.4f}" if abs(value) > _SMALL else f" - {name}: {value:.4e}"
            for name, value in shown.items()
            if value is not None
        )
        yield (
            f"\x1b[1m{within + 1}/{size}\x1b[0m {state} \x1b[1m{count // 30}s\x1b[0m "
            f"{1000 * log.run.seconds[entry.index]:.0f}ms/step{values}"
        )


def own_lines(log: Writer, names: dict[str, str], sign: str, separator: str) -> list[str]:
    """A line of names and values for each entry, as loops of one's own print them."""
    text = number_text(log.shape.digits)
    lines = []
    for record in log.records(names):
        if len(record) > 1:
            pairs = [
                f"{name}{sign}{value / _MEBIBYTE:.1f}MiB"
                if name == names["memory"]
                else f"{name}{sign}{text(value)}"
                for name, value in record.items()
            ]
            line = separator.join(pairs)
            lines.append(f"| {line} |" if "|" in separator else line)
    return lines


def own_loop(log: Writer, sign: str, separator: str) -> list[str]:
    """The same behind what ``logging`` puts there."""
    names = draw_names(log.rng)
    head = _LOGGING[log.rng.integers(len(_LOGGING))]
    return [head + line for line in own_lines(log, names, sign, separator)]


def number_text(digits: int) -> Callable[[float], str]:
    """How a number is written: whole ones as such, small ones in powers of ten.

    >>> text = number_text(3)
    >>> text(12), text(2.34567), text(0.000123456), text(float("nan"))
    ('12', '2.346', '1.235e-04', 'nan')
    """

    def text(value: float) -> str:
        if isinstance(value, int):
            return str(value)
        if not digits:
            return repr(value)
        return f"{value:.{digits}e}" if 0 < abs(value) < 1e-2 else f"{value:.{digits}f}"

    return text


def traceback_alone(log: Writer) -> Files:
    """The end of a run with few lines before it, or a part of it; of a silent end the last line."""
    noisy = log.noisy(own_lines(log, draw_names(log.rng), ": ", " | "))
    end = log.end()
    missing = int(float(log.rng.uniform(0.1, 0.7)) * len(end))
    kept = max(log.shape.kept, 0 if end else 1)
    if end and log.shape.cut == "head":
        end, kept = end[missing:], 0
    elif log.shape.cut == "end":
        end = end[: len(end) - missing]
    return as_file([*noisy[len(noisy) - min(kept, len(noisy)) :], *end])


def mixed_paste(log: Writer) -> Files:
    """All that a notebook or terminal showed: lines, colours, bars, the error."""
    lines = own_lines(log, draw_names(log.rng), "=", ", ")
    loud = replace(log, shape=replace(log.shape, coloured=True, bars=True))
    return as_file([*loud.noisy(["Loading data", *lines]), *log.end()])
