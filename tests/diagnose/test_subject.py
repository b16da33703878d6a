"""What is taken for the log of a training, and what of everyday life is not."""

import re
from pathlib import Path

import numpy as np
import pytest

from failbench.diagnose.readers.records import read_document
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.subject import is_training_log
from failbench.neighbours.rendering.formats import FORMATS, read_files, rendered
from failbench.neighbours.rendering.run import draw_shape
from made_up_logs import made_up_run

_, *TEXTS = re.split(r"^@ (.+)\n", Path(__file__).with_name("everyday.txt").read_text(), flags=re.M)
EVERYDAY = dict(zip(TEXTS[::2], TEXTS[1::2], strict=True))
FIELD = Path(__file__).parents[2] / "data/field/development"


def told(text):
    return read_document("-", text) or read_text("-", [text.encode()])


def test_everyday_texts_are_no_logs_of_trainings():
    assert len(EVERYDAY) > 100
    assert [name for name, text in EVERYDAY.items() if is_training_log(told(text))] == []


def test_every_console_of_the_field_is_one_but_that_which_is_empty():
    consoles = {path: path.read_bytes() for path in FIELD.glob("*/*/*/console.txt")}
    others = [data for data in consoles.values() if not is_training_log(read_text("-", [data]))]
    assert (len(consoles), others) == (402, [b""])


@pytest.mark.parametrize("form", FORMATS)
def test_every_rendering_with_a_loss_or_an_error_is_one(form, tmp_path):
    rng = np.random.default_rng(29)
    for ending in ("completed", "exception", "death"):
        log = read_files(rendered(made_up_run(ending), form, draw_shape(form, rng), rng), tmp_path)
        assert is_training_log(log) or log.is_empty


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("loss 2.5\nloss 2.25", True),
        ("month,profit,loss\n1,2.5,0.25\n2,2.5,0.75", False),
        ("epoch 0: 0.1\nepoch 1: 2.838", True),
        ("slot 7412 epoch 231 peers 4\nslot 7413 epoch 232 peers 5", False),
        ("Schritt 20: Rekonstruktionsfehler 0,4984", True),
        ("backup step 20: 0.4984", False),
        ('[{"step": 1, "train/reward": 0.5}]', True),
        ('{"step": 1, "price": 0.5}', False),
        ('AttributeError ("no attribute item")', True),
        ("an AttributeError is no bug", False),
        ("server 1\nKilled", True),
        ("", False),
    ],
)
def test_near_misses_are_told_apart(text, is_one):
    assert is_training_log(told(text)) is is_one
