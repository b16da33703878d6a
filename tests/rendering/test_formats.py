import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.diagnose.readers.names import SIGNALS
from failbench.neighbours.rendering.formats import FORMATS, read_files, rendered
from failbench.neighbours.rendering.run import STYLES, draw_shape, formats
from made_up_logs import ENDINGS, SHAPE, made_up_run

MEBIBYTE, GIBIBYTE = 2**20, 2**30
WITH_STEPS = sorted(set(FORMATS) - {"trainer_v4", "trainer_v5", "keras", "lightning_bar"})
"""In which lines say the number of their step."""

FROM_ONE = {"trainer_state", "megatron", "fairseq", "llm_c", "torchtune", "torchtitan"}
"""That count steps from 1."""

SUMMED = {"wandb_folder", "trainer_state", "trainer_v4", "trainer_v5"}
"""That say a last or mean value once more when a run has ended."""

PRINTED = {  # half of the last digit that a format prints, or a share of the value
    "trainer_state": {"loss": 5e-5},
    "trainer_v4": {"loss": 5e-5},
    "trainer_v5": {"loss": 5e-4, "grad_norm": 5e-5, "learning_rate": 5e-8},
    "lightning_bar": {"loss": 5e-3, "learning_rate": 5e-6, "perplexity": 0.5},
    "tensorboard": {"memory": 4, "throughput": 1e-2, "perplexity": 1e-4},
    "wandb_folder": {"memory": MEBIBYTE / 20},
    "nanogpt": {"loss": 5e-5},
    "megatron": {"loss": 5e-6, "grad_norm": 5e-4, "learning_rate": 5e-9},
    "fairseq": {"loss": 5e-4, "grad_norm": 5e-4, "learning_rate": 1e-8, "throughput": 0.06,
                "perplexity": 0.3},
    "llm_c": {"loss": 5e-7, "grad_norm": 5e-5, "learning_rate": 5e-6, "throughput": 500},
    "llm_c_log": {"loss": 5e-5, "grad_norm": 5e-3, "learning_rate": 5e-7},
    "composer": {"loss": 5e-5, "grad_norm": 5e-5, "learning_rate": 5.1e-5, "perplexity": 5e-5,
                 "throughput": 5e-5, "memory": 5e-5},
    "torchtitan": {"loss": 5e-5, "grad_norm": 5e-5, "memory": GIBIBYTE / 200, "throughput": 0.5},
    "keras": {"loss": 5e-5, "learning_rate": 5e-7, "perplexity": 5e-4},
    "key_equals": {"memory": MEBIBYTE / 20},
    "key_colon": {"memory": MEBIBYTE / 20},
    "key_bars": {"memory": MEBIBYTE / 20},
    "traceback_alone": {"memory": MEBIBYTE / 20},
    "mixed_paste": {"memory": MEBIBYTE / 20},
}  # fmt: skip
UNITS = {
    ("composer", "memory"): 1e9,
    ("torchtune", "memory"): GIBIBYTE,
    ("fairseq", "loss"): math.log(2),
}
"""By what a format divides what it prints: fairseq's losses are in bits."""

SAID = 2
"""A seed with which no format says of a death what readers do not know."""

EVENTS = {
    "completed": [],
    "silence": [],
    "exception": [("exception", "RuntimeError")],
    "death": [("death", "SIGKILL")],
}


def shape_for(name, **changes):
    known = formats()[name]
    signals = tuple(one for one in SIGNALS if one in known.always + known.may)
    return replace(SHAPE, signals=signals, **changes)


def read_back(written):
    with TemporaryDirectory() as folder:
        log = read_files(written, Path(folder))
        assert not list(Path(folder).iterdir())
    return log


def read(name, run, seed=0, **changes):
    rng = np.random.default_rng(seed)
    return read_back(rendered(run, name, shape_for(name, **changes), rng))


def written(name, run, signal):
    """Step and value of each measurement, as the format's library counts and means it."""
    values, size = run.signals[signal], run.steps_per_epoch
    places = range(len(values))
    if name == "keras" and signal == "learning_rate":
        places = [at for at in places if (at + 1) % size == 0]
    elif name == "keras":  # means of the epoch until then
        losses = run.signals["loss"]
        values = [np.mean(losses[at - at % size : at + 1]) for at in places]
        values = values if signal == "loss" else np.exp(values)
    if name == "nanogpt":  # the loss is estimated once more where it is validated
        places = sorted([*places, *(at for at in places if run.validation[at] is not None)])
    if name == "traceback_alone":
        places = places[-SHAPE.kept :]
    unit = UNITS.get((name, signal), 1.0)
    return [run.steps[at] for at in places], [values[at] / unit for at in places]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_read_back_with_its_name_its_values_and_its_validation(name):
    """Readers take `validate step: 10  loss: 3` of torchtitan for training; bars say epochs."""
    run = made_up_run()
    validated = name not in ("torchtitan", "keras", "lightning_bar")
    log = read(name, run, validation=name != "torchtitan")
    if name == "traceback_alone":
        assert log.sources[0].format == "printed lines"
    else:
        assert {source.format for source in log.sources} == {formats()[name].read_as}
    allowed = PRINTED.get(name, {})
    for signal in shape_for(name).signals:
        series = log.series(signal)
        steps, values = written(name, run, signal)
        if name in SUMMED:
            series = series.taken(slice(len(values)))
        tolerance = {"abs": allowed.get(signal, 5e-7), "rel": 1e-6}
        assert series[signal].tolist() == pytest.approx(values, **tolerance), signal
        if name in WITH_STEPS:
            assert series.step.tolist() == [step + (name in FROM_ONE) for step in steps], signal
    unit = UNITS.get((name, "loss"), 1.0)
    wanted = [value / unit for value in run.validation if value is not None]
    if name == "traceback_alone":
        wanted = wanted[-SHAPE.kept // 10 :]
    if validated:
        held_out = log.series("loss", "validation")["loss"].tolist()[: len(wanted)]
        assert held_out == pytest.approx(wanted, abs=1e-3)
    assert not len(read(name, run, validation=False).series("loss", "validation"))


@pytest.mark.parametrize("style", list(STYLES))
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "llm_c_log"])
def test_endings_are_events(name, style):
    for ending in ENDINGS:
        run = made_up_run(ending, count=10)
        log = read(name, run, seed=SAID, style=style, terminal=True)
        kinds = [(event.kind, event.name) for event in log.events if event.name]
        assert kinds == EVENTS[ending]
        if ending == "exception":
            assert log.events[0].message == "the batch is broken\nin two places"
            functions = [frame.rpartition(" in ")[2] for frame in log.events[0].frames]
            assert functions[-3:] == ["backward", "backward", "read1"]
    assert not read(name, made_up_run("exception", 10), terminal=True, ending=False).events


def test_what_was_cut_or_not_written_to_disk_is_not_in_the_log():
    run = made_up_run("exception")
    whole, headless, endless = (
        read("traceback_alone", run, seed=4, cut=cut) for cut in ("none", "head", "end")
    )
    assert len(whole.rows) > SHAPE.kept
    assert len(headless.rows) == 0
    assert headless.events[0].name == "RuntimeError"
    assert len(headless.events[0].frames) < len(whole.events[0].frames)
    assert [event.name for event in endless.events] == [""]
    ended, killed = made_up_run("exception", 150), made_up_run("death", 150)
    for run, steps, cut_off in ((ended, 150, False), (killed, 100, True)):
        assert len(read("lightning_csv", run).series("loss")) == steps
        assert ("cut off" in " ".join(read("tensorboard", run).sources[0].notes)) == cut_off
    state = read("trainer_state", made_up_run("exception", 99))
    assert state.series("loss").step.max() < 99
    assert state.sources[0].name.startswith("checkpoint-")


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(FORMATS), st.sampled_from(sorted(ENDINGS)), st.integers(0, 2**32 - 1))
def test_any_shape_can_be_read(name, ending, seed):
    rng = np.random.default_rng(seed)
    shape = draw_shape(name, rng)
    assert set(formats()[name].always) <= set(shape.signals)
    log = read_back(rendered(made_up_run(ending, 30), name, shape, rng))
    assert set(log.present) <= {*shape.signals, "loss", "throughput", "perplexity"}
    assert len(log.rows) or log.events or name in ("trainer_state", "lightning_csv")
