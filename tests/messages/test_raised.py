import copy
import importlib
import io
import json
import math
import pickle
import warnings
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from failbench.diagnose.readers.events import said_in
from failbench.messages.catalogue import message_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from library_errors import RAISED  # noqa: E402
from made_up_models import causal_model  # noqa: E402


def known_as(call):
    """The name under which what a call raises is known."""
    with pytest.raises(Exception) as error:  # noqa: PT011
        call()
    kind = type(error.value)
    known = message_of(f"{kind.__module__}.{kind.__qualname__}", str(error.value))
    return known.id if known else f"{kind.__qualname__}: {error.value}"


def weight(*size):
    return torch.ones(*size, requires_grad=True)


def write_to_expanded():
    torch.ones(1).expand(3).add_(torch.ones(3))


def use_inference_tensor():
    with torch.inference_mode():
        made = torch.ones(2)
    (weight(2) * made).sum().backward()


def scheduler_from_a_step():
    optimizer = torch.optim.SGD([weight(1)], 0.1)
    torch.optim.lr_scheduler.StepLR(optimizer, 1, last_epoch=5)


def other_recomputation():
    lengths = iter((2, 3))

    def layer(hidden):
        return (hidden * weight(next(lengths), 1)).exp().sum()

    checkpoint(layer, weight(1), use_reentrant=False).backward()


def lose_a_moment():
    optimizer = torch.optim.AdamW([weight(1)])
    (parameter,) = optimizer.param_groups[0]["params"]
    parameter.grad = torch.ones(1)
    optimizer.state[parameter] = {"step": torch.tensor(1.0)}
    optimizer.step()


def sparse_step():
    table = nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([1])).sum().backward()
    torch.optim.AdamW(table.parameters()).step()


def arguments(**given):
    return transformers.TrainingArguments("unused", report_to=[], use_cpu=True, **given)


def tokenizer(**special):
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]")
    fast = tokenizers.Tokenizer(model)
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=fast, **special)


def call_too_much():
    (lambda: None)(1)


def endless():
    endless()


def local_function():
    pickle.dumps(lambda: None)


OF_TORCH = {
    "loss_not_scalar": lambda: weight(2).backward(),
    "not_in_graph": lambda: torch.autograd.grad(weight(1).sum(), weight(1)),
    "view_refused": lambda: torch.ones(2, 3).t().view(6),
    "truth_of_many": lambda: bool(torch.ones(2)),
    "array_of_gradient": lambda: weight(1).numpy(),
    "array_of_bfloat16": lambda: torch.ones(1, dtype=torch.bfloat16).numpy(),
    "not_one_number": lambda: torch.ones(3).item(),
    "dimension_outside": lambda: torch.ones(3).softmax(1),
    "layer_input": lambda: nn.Conv2d(3, 4, 3)(torch.ones(1, 5, 8, 8)),
    "batch_of_one": lambda: nn.BatchNorm1d(4)(torch.ones(1, 4)),
    "heads_do_not_divide": lambda: nn.MultiheadAttention(10, 3),
    "mask_shape": lambda: nn.MultiheadAttention(4, 2)(
        *(torch.ones(4, 1, 4),) * 3, attn_mask=torch.zeros(3, 3)
    ),
    "targets_shape": lambda: functional.nll_loss(torch.ones(2, 3), torch.zeros(2, 1).long()),
    "probability_targets": lambda: functional.binary_cross_entropy(
        torch.full((1,), 0.5), torch.full((1,), 2.0)
    ),
    "probability_inputs": lambda: functional.binary_cross_entropy(
        torch.full((1,), 2.0), torch.ones(1)
    ),
    "probabilities_broken": lambda: torch.multinomial(torch.tensor([math.nan, 1.0]), 1),
    "decomposition_failed": lambda: torch.linalg.inv(torch.zeros(2, 2)),
    "index_outside": lambda: torch.ones(3)[7],
    "meta_tensor": lambda: nn.Linear(1, 1, device="meta").to("cpu"),
    "inference_tensor": use_inference_tensor,
    "overlapping_write": write_to_expanded,
    "whole_numbers_learn_not": lambda: torch.ones(1, dtype=torch.long).requires_grad_(),
    "number_too_large_for_type": lambda: torch.ones(1, dtype=torch.half).masked_fill(
        torch.ones(1, dtype=torch.bool), -1e9
    ),
    "copy_of_graph": lambda: copy.deepcopy(weight(1).exp()),
    "operation_not_there": lambda: torch.ones(2).to_sparse().view(1, 2),
    "generator_device": lambda: torch.set_rng_state(torch.ones(1)),
    "nothing_to_stack": lambda: torch.stack([]),
    "rate_refused": lambda: torch.optim.AdamW([weight(1)], lr=-1.0),
    "initial_rate_missing": scheduler_from_a_step,
    "optimizer_field": lose_a_moment,
    "collate_refused": lambda: list(torch.utils.data.DataLoader([None])),
    "saving_failed": lambda: torch.save({}, "no/such/folder/x.pt"),
    "weights_file_is_none": lambda: torch.load(
        io.BytesIO(b"version https://git-lfs.github.com/spec/v1"), weights_only=False
    ),
    "recomputation_differs": other_recomputation,
    "built_without_cuda": lambda: torch.ones(1).to("cuda"),
    "group_not_there": lambda: torch.distributed.all_reduce(torch.ones(1)),
    "forward_arguments": lambda: nn.Linear(1, 1)(torch.ones(1), labels=1),
    "attribute_missing": lambda: nn.Linear(1, 1).generate,
    "sparse_gradients": sparse_step,
}
OF_TRANSFORMERS = {
    "trainer_arguments": lambda: transformers.Trainer(causal_model(), arguments()).train(),
    "no_padding": lambda: tokenizer()(["a a", "a"], padding=True),
    "no_mask_token": lambda: transformers.DataCollatorForLanguageModeling(tokenizer()),
    "no_chat_template": lambda: tokenizer().apply_chat_template([{"role": "user", "content": ""}]),
    "chat_refused": lambda: tokenizer(
        chat_template="{{ raise_exception('Conversation roles must alternate') }}"
    ).apply_chat_template([{"role": "user", "content": ""}]),
    "no_input_ids": lambda: tokenizer(pad_token="[UNK]").pad([{"label": 1}]),
    "text_is_none": lambda: tokenizer()([None]),
    "unknown_architecture": lambda: transformers.AutoConfig.from_pretrained("other"),
    "attention_not_supported": lambda: transformers.AutoModelForCausalLM.from_config(
        causal_model().config, attn_implementation="none"
    ),
    "unused_arguments": lambda: causal_model().generate(
        torch.zeros(1, 2).long(), no_such_argument=1, max_new_tokens=1
    ),
}
OF_NUMPY = {
    "array_shapes": lambda: np.ones(3) + np.ones(4),
    "array_ragged": lambda: np.array([[1], [1, 2]], dtype=float),
    "decomposition_failed": lambda: np.linalg.inv(np.zeros((2, 2))),
    "index_outside": lambda: np.ones(3)[7],
    "truth_of_many": lambda: bool(np.ones(2)),
    "not_one_number": lambda: float(np.ones(2)),
    "array_file_broken": lambda: np.load(io.BytesIO(b"no array")),
    "numpy_versions": lambda: np.bool8,
    "nothing_to_stack": lambda: np.concatenate([]),
}
OF_PYTHON = {
    "import_failed": lambda: importlib.import_module("no_such_module"),
    "call_arguments": call_too_much, "nothing_used": lambda: None.shape,
    "field_missing": lambda: {}["input_ids"], "key_missing": lambda: {}["model_state"],
    "index_outside": lambda: list(range(1))[7], "recursion": endless,
    "unpacking": lambda: [0 for _, _ in [[1]]], "text_no_number": lambda: float("n/a"),
    "division_by_zero": lambda: 1 / 0, "exponent_overflows": lambda: math.exp(710),
    "iteration_ended": lambda: next(iter(())), "cannot_pickle": local_function,
    "type_refused": lambda: 1 + "a", "domain_error": lambda: int(math.nan),
    "time_ran_out": lambda: Future().result(0),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "raising"),
    [
        *RAISED.items(), *OF_TORCH.items(), *OF_TRANSFORMERS.items(), *OF_NUMPY.items(),
        *OF_PYTHON.items(),
    ],
)  # fmt: skip
def test_what_libraries_and_python_raise_is_known(name, raising, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/config.json").write_text(json.dumps({"model_type": "of-next-year"}))
    assert known_as(raising) == name


def no_batch(accelerate):
    def train(batch_size):
        raise RuntimeError("CUDA out of memory.")

    accelerate.utils.find_executable_batch_size(train, starting_batch_size=2)()


def no_training_data(lightning):
    class Whole(lightning.LightningModule):
        def training_step(self, batch):
            return None

    trainer = lightning.Trainer(logger=False, enable_checkpointing=False, accelerator="cpu")
    trainer.fit(Whole(), [1])


def short_file(safetensors):
    Path("x.safetensors").write_bytes(b"short")
    safetensors.load_file("x.safetensors")


OF_OTHERS = [
    ("tokenizers", "word_not_known", lambda tokenizers: tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"a": 0}, unk_token="[UNK]")).encode("b")),
    ("tokenizers", "tokenizer_unreadable",
     lambda tokenizers: tokenizers.Tokenizer.from_str('{"model": {"type": "of next year"}}')),
    ("accelerate", "no_batch_fits", no_batch),
    ("lightning.pytorch", "lightning_configured", no_training_data),
    ("pyarrow.parquet", "parquet_broken", lambda parquet: parquet.read_table(io.BytesIO(b"no"))),
    ("pyarrow", "parquet_broken", lambda arrow: arrow.ipc.open_file(io.BytesIO(b"no arrow file"))),
    ("pyarrow", "record_types", lambda arrow: arrow.array(["a", 1])),
    ("pyarrow", "record_not_parsed", lambda arrow: arrow.array(["a"]).cast("int64")),
    ("pandas", "empty_table", lambda pandas: pandas.read_csv(io.StringIO(""))),
    ("pandas", "record_not_parsed", lambda pandas: pandas.read_csv(io.StringIO("a\n1,2\n1,2,3"))),
    ("pandas", "truth_of_many", lambda pandas: bool(pandas.Series([1, 2]))),
    ("huggingface_hub", "model_not_there", lambda hub: hub.hf_hub_download("no/such/name", "x")),
    ("huggingface_hub", "offline_mode", lambda hub: hub.HfApi().model_info("x")),
    ("safetensors.torch", "shared_weights",
     lambda library: library.save_file(dict.fromkeys("ab", torch.ones(2)), "x")),
    ("safetensors.torch", "file_broken", short_file),
]  # fmt: skip


@pytest.mark.parametrize(("library", "name", "raising"), OF_OTHERS)
def test_what_other_libraries_raise_is_known(library, name, raising, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if library == "huggingface_hub":
        monkeypatch.setattr(pytest.importorskip(library).constants, "HF_HUB_OFFLINE", True)
    assert known_as(lambda: raising(pytest.importorskip(library))) == name


def step_schedule_first():
    optimizer = torch.optim.SGD([weight(1)], 0.1)
    torch.optim.lr_scheduler.StepLR(optimizer, 1).step()
    optimizer.step()


WARNED = {
    "schedule_before_optimizer": step_schedule_first,
    "no_grad_inputs": lambda: checkpoint(torch.exp, torch.ones(1), use_reentrant=True),
    "too_many_workers": lambda: torch.utils.data.DataLoader([1], num_workers=500),
    "array_warned": lambda: np.log(np.zeros(1)) * 0,
}


@pytest.mark.parametrize("name", WARNED)
def test_what_torch_and_numpy_warn_of_is_known(name):
    """By the lines that Python prints of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WARNED[name]()
    printed = (
        warnings.formatwarning(one.message, one.category, one.filename, one.lineno).splitlines()[0]
        for one in caught
    )
    assert name in [known.id for line in printed if (known := said_in(line)) is not None]


def test_what_transformers_warns_of_is_known(caplog):
    logger = transformers.utils.logging.get_logger("transformers")
    logger.propagate = True
    tokenizer(model_max_length=2)("a a a a")
    logger.propagate = False
    assert "too_long" in [said_in(text).id for text in caplog.messages if said_in(text)]
