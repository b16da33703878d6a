"""Settings are read from what trainings write, and nothing in it is executed."""

import json
import os

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.configuration import read_configuration


def configuration(tmp_path, text, name="config.txt"):
    path = tmp_path / name
    path.write_text(text)
    return read_configuration(path)


def values(configuration, *settings):
    found = [configuration.find(setting) for setting in settings]
    return [None if setting is None else setting.value for setting in found]


def test_arguments_of_transformers_are_read_from_json_with_their_lines(tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    given = {"learning_rate": 3e-5, "max_steps": 100, "warmup_steps": 10}
    arguments = transformers.TrainingArguments(str(tmp_path), report_to=[], use_cpu=True, **given)
    text = json.dumps(arguments.to_dict(), indent=2)
    read = configuration(tmp_path, text, "arguments.json")
    assert values(read, *given) == [*given.values()]
    assert "adamw" in values(read, "optimizer")[0]
    assert values(read, "max_grad_norm", "fp16") == [1.0, False]
    line = read.find("learning_rate").line
    assert '"learning_rate": 3e-05' in text.splitlines()[line - 1]
    read = configuration(tmp_path, str(arguments))
    assert values(read, "learning_rate", "adam_beta1") == [3e-5, 0.9]
    line = read.find("learning_rate").line
    assert "learning_rate=3e-05" in str(arguments).splitlines()[line - 1]


FORMS = [
    ("ds.json", '{"optimizer": {"type": "AdamW", "params": {"lr": 1e-3}}, "fp16": {"enabled": 1}}'),
    ("hparams.yaml", "lr: 1e-3\noptimizer: AdamW\nfp16: 1\nm: !!python/object:os.system\n  a: 1\n"),
    ("config.yaml", "lr:\n  value: 0.001\noptim:\n  desc: x\n  value: AdamW\nfp16:\n  value: 1\n"),
    ("args.txt", "Namespace(lr=0.001, optimizer='AdamW', fp16=1, call=open('x'))"),
    ("args.txt", "lr = 1e-3\noptimizer = 'AdamW'  \nfp16=1"),
    ("megatron.log", "  lr ........ 0.001\n  optimizer ........ AdamW\n  fp16 ........ 1\n"),
    ("run.sh", "python train.py \\\n  --lr 1e-3 --optimizer=AdamW --fp16 1 # try"),
]


@pytest.mark.parametrize(("name", "text"), FORMS)
def test_each_form_is_read(tmp_path, name, text):
    read = configuration(tmp_path, text, name)
    assert values(read, "learning_rate", "optimizer", "fp16") == [0.001, "AdamW", 1.0]


def test_the_least_nested_name_counts_two_that_differ_are_none_and_a_line_is_of_one(tmp_path):
    text = '{"lr": 1e-3, "discriminator": {"lr": 4.0}, "a": {"seed": 1}, "b": {"seed": 2}}'
    read = configuration(tmp_path, text, "c.json")
    assert values(read, "learning_rate", "seed") == [1e-3, None]
    read = configuration(tmp_path, "a:\n  dropout: 0.1\nb:\n  dropout: 0.1\nseed: 3\n", "c.yaml")
    assert (read.find("dropout").line, read.find("seed").line) == (None, 5)


BOMB = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
    f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(9)
)
MERGED = "a0: &a0 {k: 1}\n" + "".join(
    f"a{n + 1}: &a{n + 1}\n  <<: [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("bomb.yaml", BOMB, "more than 20,000"),
        ("merged.yaml", MERGED, "more than 20,000"),
        ("loop.yaml", "a: &a\n  b: *a\n", "contains itself"),
        ("deep.yaml", "[" * 100_000, "deeper"),
        ("deep.json", '{"a":' * 100_000 + "1" + "}" * 100_000, "deeper"),
        ("nested.json", '{"a":' * 50 + "1" + "}" * 50, "deeper"),
        ("wide.json", "[" + "1," * 30_000 + "1]", "more than 20,000"),
        ("digits.json", '{"lr": ' + "9" * 5_000 + "}", "cannot be read"),
        ("broken.yaml", "lr: [1, 2\nb: }", "cannot be read"),
        ("two.yaml", "a: 1\n---\nb: 2\n", "cannot be read"),
        ("long.txt", "lr=1\n" * 300_000, "1 MiB"),
        ("words.txt", "nothing here", "no settings"),
        ("empty.yaml", "", "no settings"),
        ("scalar.yaml", "7", "no settings"),
        ("open.txt", "Namespace(" + "(" * 50_000, "settings"),
        ("minus.txt", "Namespace(" + "-" * 50_000 + "1)", "settings"),
    ],
)
def test_what_is_meant_to_break_a_reader_is_refused_in_one_sentence(tmp_path, name, text, words):
    with pytest.raises(BadInputError, match=words) as error:
        configuration(tmp_path, text, name)
    assert "\n" not in str(error.value)


def test_a_pickle_a_folder_and_a_pipe_are_refused(tmp_path):
    (tmp_path / "training_args.bin").write_bytes(b"PK\x03\x04\0\0")
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(BadInputError, match="not text"):
        read_configuration(tmp_path / "training_args.bin")
    for name in (".", "pipe.json", "missing.json"):
        with pytest.raises(BadInputError, match="no file"):
            read_configuration(tmp_path / name)


def test_names_and_values_cannot_draw_on_the_terminal(tmp_path):
    text = json.dumps({"a\x1b[31m": "\x1b]0;title\x07x", "optimizer": "\u202eadam"})
    for setting in configuration(tmp_path, text, "c.json").settings:
        assert (setting.name + str(setting.value)).isprintable()
