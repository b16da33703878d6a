"""Answers to made-up logs: as they would be given, with everything that an output must show."""

import math

from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import Advice, Measurement, Remedy, causes
from failbench.diagnose.answer import Hypothesis, LogDiagnosis
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.text import read_text

HOSTILE = (
    "<script>alert(1)</script> \x1b]0;owned\x07\x1b[31m [bold]loud[/bold] [link=x]y[/link] & \"'"
)
"""What a log may say to a terminal, a page of HTML and rich."""

CLIP = Remedy(
    change="Clip gradients: set `max_grad_norm` to 1.0.",
    why="One batch can then move the weights no further than the batches before it did.",
    expected="The gradient norm stays below 5, and the loss falls without spikes.",
    metric="grad_norm",
    verify="Train from the last checkpoint before step 990 to step 1,100 and log the norm.",
    otherwise="The learning rate is too high by itself: halve it.",
    effort="minutes",
    risk="low",
    quick=True,
)
HALVE = CLIP.model_copy(
    update={"change": "Halve the peak of the learning rate.", "risk": "none", "effort": "hours"}
)
REBUILD = CLIP.model_copy(
    update={"change": "Overwrite the optimizer state with zeros.", "risk": "high", "quick": True}
)
NORMS = Measurement(
    measure="Log the norm of the gradients before clipping at every step.",
    tells="A norm that rises over 50 steps before the loss does speaks for the learning rate.",
    invariants=("gradient_norm_steady", "update_ratio_steady"),
)
LONGER = "Steps are longer than the region in which the gradient describes the loss."
ADVICE = Advice(mechanism=LONGER, remedies=(HALVE, CLIP, REBUILD), settle=(NORMS,))


def rows(steps, *, broken_from=None, every=1):
    """A log that diverges at the end of its steps, and reads NaN from one of them on."""
    lines = []
    for step in range(0, steps, every):
        loss = 2.0 + 3.0 * math.exp(-4 * step / steps) + 0.1 * math.sin(step)
        norm = 1.0 + 0.3 * math.sin(step / 7)
        if step > 0.9 * steps:
            loss, norm = loss + (step - 0.9 * steps) / 3, norm * 10 ** (step / steps * 4 - 2)
        if broken_from is not None and step >= broken_from:
            loss = norm = math.nan
        rate = 3e-4 * min(1, (step + 1) / (0.1 * steps))
        lines.append(f"step {step} loss {loss:.4f} grad_norm {norm:.4f} lr {rate:.3e}")
        if step % max(steps // 10, 1) == 0 and step:
            lines.append(f"step {step} val_loss {loss + 0.2:.4f}")
    return "\n".join(lines) + "\n"


def finding(identity="loss_rises", **changes):
    values = {"kind": "check", "strength": "direct", "source": "train.log", "line": 91, "step": 83}
    values |= {"statement": f"The loss rises to 2.7 times its lowest value ({identity})."}
    values |= {"signal": "loss", "value": 11.2, "relation": "above", "threshold": 4.1}
    return Finding(**{"id": identity, **values, **changes})


SPIKE = finding()
LEAVES = "The gradient norm leaves its band 4 steps before the loss does."
NORM_AT = {"line": 95, "step": 87, "signal": "grad_norm", "value": math.inf, "threshold": 12.5}
NORM = finding("norm_rises", statement=LEAVES, **NORM_AT)
CRASH = finding(
    "fp16_scale_at_minimum", kind="message", line=102,
    statement="The loss scale has fallen to its minimum.",
    quote="FloatingPointError: Minimum loss scale reached (0.0001). Your loss is exploding.",
    **dict.fromkeys(("step", "value", "threshold")), **dict.fromkeys(("signal", "relation"), ""),
)  # fmt: skip
HIGH = "The learning rate is three times the usual one for models of this size."
RATE_AT = {"line": 40, "step": 36, "signal": "learning_rate", "value": 3e-4, "threshold": 1e-4}
RATE = finding("rate_high", strength="circumstantial", statement=HIGH, **RATE_AT)


def hypothesis(cause, confidence, *findings, advice=ADVICE):
    return Hypothesis(causes()[cause], confidence, "critical", findings, advice)


SHARES = (0.01, 0.93, 0.03, 0.02, 0.01)


def answer(**changes):
    """A failed run of 100 steps with two causes to choose from, in some parts changed."""
    text = rows(100, broken_from=94)
    values = {
        "log": read_text("train.log", [text.encode()]),
        "status": "failed",
        "category": "optimization",
        "confidence": 0.93,
        "categories": dict(zip(CATEGORIES, SHARES, strict=True)),
        "hypotheses": (
            hypothesis("learning_rate_too_high", 0.72, SPIKE, NORM, CRASH),
            hypothesis("loss_scale_wrong", 0.21, CRASH),
        ),
        "findings": (RATE, SPIKE, NORM, CRASH),
        "absent": ("memory", "throughput"),
        "uncertainty": ("The log does not say which optimizer is used.",),
        "measure": (NORMS,),
    }
    return LogDiagnosis(**{**values, **changes})


NOTHING = {"status": "healthy", "category": None, "hypotheses": (), "findings": ()}


def healthy():
    return answer(log=read_text("train.log", [rows(100).encode()]), confidence=0.88, **NOTHING)


def unknown():
    """A run with something wrong of which the log does not say the cause."""
    return answer(
        status="unknown",
        category=None,
        confidence=0.44,
        categories={"optimization": 0.44, "data_pipeline": 0.36, "model_software": 0.2},
        hypotheses=(
            hypothesis("learning_rate_too_high", 0.4, SPIKE),
            hypothesis("labels_wrong", 0.31, SPIKE, NORM),
            hypothesis("loss_wrong", 0.2),
        ),
    )


def empty():
    return answer(log=read_text("-", []), **NOTHING)


def hostile(words=HOSTILE):
    """An answer all of whose words of the log are hostile, or are others."""
    of_log = dict.fromkeys(("statement", "signal", "relation", "quote"), words)
    said = finding(words, source=f"{words}.log", **of_log)
    return answer(
        log=read_text(f"{words}.log", [rows(20).encode()]),
        hypotheses=(hypothesis("learning_rate_too_high", 0.6, said),),
        findings=(said,),
        absent=(words,),
        uncertainty=(words,),
    )
