import json
import os

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.configuration import read_configuration
from failbench.diagnose.given import configuration_findings
from failbench.diagnose.readers.text import read_text


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
        ("wide.json", "[" + "1," * 30_000 + "1]", "more than 20,000"),
        ("digits.json", '{"lr": ' + "9" * 5_000 + "}", "cannot be read"),
        ("broken.yaml", "lr: [1, 2\nb: }", "cannot be read"),
        ("long.txt", "lr=1\n" * 300_000, "1 MiB"),
        ("words.txt", "nothing here", "no settings"),
        ("open.txt", "Namespace(" + "(" * 50_000, "settings"),
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


LOG = "step 1 lr 1e-3 loss 3 grad_norm 2\nstep 1000 lr 5e-4 loss 2 grad_norm 1\n"
EXPLODED = LOG + "step 1001 lr 5e-4 loss 9 grad_norm 5000\n"
LOST = LOG + "step 1001 lr 5e-4 loss nan grad_norm nan\n"
RATE = {"optimizer": "AdamW"}


def found(tmp_path, settings, log=""):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(settings, indent=1))
    return configuration_findings(read_configuration(path), read_text("-", [log.encode()]))


CASES = [
    ("adam_rate_high", {**RATE, "lr": 0.5}, "", {**RATE, "lr": 0.1}, ""),
    ("adam_rate_low", {**RATE, "lr": 1e-8}, "", {**RATE, "lr": 1e-7}, ""),
    ("sgd_rate_high", {"optim": "sgd", "lr": 11}, "", {"optim": "adafactor", "lr": 0.5}, ""),
    ("sgd_rate_low", {"optim": "SGD", "lr": 1e-6}, "", {**RATE, "lr": 1e-6}, ""),
    ("adafactor_rate_high", {"optim": "adafactor", "lr": 2}, "", {"optim": "sgd", "lr": 2}, ""),
    ("lion_rate_high", {"optim": "lion_8bit", "lr": 0.05}, "", {**RATE, "lr": 0.05}, ""),
    ("rate_zero", {"learning_rate": 0}, "", {"min_lr": 0}, ""),
    ("weight_decay_large", {"weight_decay": 0.9}, "", {"weight_decay": 0.5}, ""),
    ("half_without_scaling", {"fp16": {"enabled": True, "loss_scale": 1}}, "",
     {"fp16": {"enabled": True, "loss_scale": 0}}, ""),
    ("half_weights", {"precision": "16-true"}, "", {"precision": "16-mixed"}, ""),
    ("two_half_precisions", {"fp16": True, "bf16": True}, "", {"fp16": False, "bf16": True}, ""),
    ("warmup_longer_than_run", {"warmup_steps": 200, "max_steps": 100}, "",
     {"warmup_steps": 200, "max_steps": -1}, ""),
    ("decay_shorter_than_run", {"lr_decay_iters": 100, "max_iters": 600}, "",
     {"lr_decay_iters": 600, "max_iters": 600}, ""),
    ("decay_shorter_than_log", {"lr_decay_iters": 900}, LOG, {"lr_decay_iters": 1000}, LOG),
    ("run_longer_than_planned", {"max_steps": 400}, LOG, {"max_steps": 500}, LOG),
    ("table_smaller_than_tokenizer", {"vocab_size": 50257, "tokenizer": {"vocab_size": 50258}}, "",
     {"vocab_size": 50304, "tokenizer": {"vocab_size": 50258}}, ""),
    ("sequences_longer_than_positions", {"max_seq_length": 1025, "n_positions": 1024}, "",
     {"max_seq_length": 1024, "n_positions": 1024}, ""),
    ("no_clipping_zero", {"grad_clip": 0.0}, EXPLODED, {"grad_clip": 0.0}, LOG),
    ("no_clipping_none", {"gradient_clip_val": None}, LOST, {"gradient_clip_val": 1.0}, LOST),
    ("logged_rate_above", {"lr": 5e-5}, LOG, {"lr": 1.1e-4}, LOG),
    ("logged_rate_below", {"lr": 0.05, "warmup_steps": 100}, LOG,
     {"lr": 0.05, "warmup_steps": 5000}, LOG),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "wrong", "log", "right", "other_log"), CASES)
def test_a_rule_holds_where_it_must_and_not_beside_it(tmp_path, rule, wrong, log, right, other_log):
    assert rule in [finding.id for finding in found(tmp_path, wrong, log)]
    assert rule not in [finding.id for finding in found(tmp_path, right, other_log)]


def test_a_finding_names_file_setting_value_and_line(tmp_path):
    (finding,) = found(tmp_path, {"seed": 1, "warmup_steps": 200, "max_steps": 100})
    assert (finding.kind, finding.source, finding.line) == ("setting", "config.json", 3)
    assert finding.signal == "warmup_steps"
    assert (finding.value, finding.relation, finding.threshold) == (200.0, "above", 100.0)
    assert finding.quote == "warmup_steps: 200"
    assert finding.statement.startswith("warmup_steps is 200, and the run ends after 100 steps")
