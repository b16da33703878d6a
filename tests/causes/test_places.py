import gzip
import traceback
from pathlib import Path

import pytest

from failbench.causes.support import places, places_of
from failbench.diagnose.readers.text import read_text

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from library_errors import RAISED  # noqa: E402
from made_up_models import Texts, causal_model  # noqa: E402

EXAMPLES = {
    "arguments": "/usr/lib/python3.11/argparse.py:2582 in error",
    "import": "<frozen importlib._bootstrap>:1204 in _gcd_import",
    "device_start": "/opt/lib/torch/cuda/__init__.py:319 in _lazy_init",
    "launcher": "/opt/lib/torch/distributed/launcher/api.py:268 in launch_agent",
    "checkpoint_of_hub": "/opt/lib/huggingface_hub/utils/_http.py:409 in hf_raise_for_status",
    "optimizer_loading": "/opt/lib/torch/optim/optimizer.py:868 in load_state_dict",
    "checkpoint_saving": "/opt/lib/torch/serialization.py:964 in save",
    "checkpoint_loading": "/opt/lib/torch/serialization.py:1529 in load",
    "network": "/opt/lib/urllib3/connectionpool.py:841 in urlopen",
    "data_decoding": "<frozen codecs>:322 in decode",
    "data_decompression": "/usr/lib/python3.11/gzip.py:507 in read",
    "data_parsing": "/usr/lib/python3.11/json/decoder.py:355 in raw_decode",
    "data_tables": "pyarrow/error.pxi:92 in pyarrow.lib.check_status",
    "data_media": "/opt/lib/PIL/ImageFile.py:289 in load",
    "data_column": "/opt/lib/transformers/tokenization_utils_base.py:282 in __getitem__",
    "data_padding": "/opt/lib/transformers/tokenization_utils_base.py:3337 in pad",
    "data_tokenizer": "/opt/lib/transformers/tokenization_utils_fast.py:553 in _batch_encode_plus",
    "data_collation": "/opt/lib/torch/utils/data/_utils/collate.py:272 in collate_tensor_fn",
    "data_worker_death": "/opt/lib/torch/utils/data/_utils/signal_handling.py:73 in handler",
    "data_sampler": "/opt/lib/torch/utils/data/sampler.py:162 in __init__",
    "data_loader": "/opt/lib/torch/utils/data/dataloader.py:733 in __next__",
    "data_set": "/opt/lib/datasets/load.py:1785 in load_dataset_builder",
    "data_item": r"C:\work\project\corpus.py:12 in __getitem__",
    "collective": "/opt/lib/torch/distributed/distributed_c10d.py:2806 in all_reduce",
    "schedule": "/opt/lib/torch/optim/lr_scheduler.py:2046 in get_lr",
    "optimizer_building": "/opt/lib/torch/optim/adamw.py:39 in __init__",
    "clipping": "/opt/lib/torch/nn/utils/clip_grad.py:184 in clip_grad_norm_",
    "loss_scale": "/opt/lib/deepspeed/runtime/fp16/loss_scaler.py:175 in update_scale",
    "scaler": "/opt/lib/torch/amp/grad_scaler.py:260 in _unscale_grads_",
    "optimizer_step": r"C:\lib\torch\optim\adamw.py:133 in step",
    "no_loss": "/opt/lib/transformers/trainer.py:3810 in compute_loss",
    "loss": "/opt/lib/torch/nn/functional.py:3494 in cross_entropy",
    "backward": "/opt/lib/torch/autograd/graph.py:824 in _engine_run_backward",
    "table": "/opt/lib/torch/nn/functional.py:2546 in embedding",
    "compiling": "/opt/lib/torch/_inductor/codecache.py:1250 in load",
    "normalization": "/opt/lib/torch/nn/functional.py:2900 in layer_norm",
    "forward": "/opt/lib/torch/nn/modules/linear.py:125 in forward",
    "model_moving": "/opt/lib/torch/nn/modules/module.py:1326 in convert",
    "metrics": "/opt/lib/sklearn/metrics/_classification.py:98 in _check_targets",
    "evaluation": "/opt/lib/transformers/trainer.py:4154 in evaluate",
    "callback": "/opt/lib/wandb/sdk/wandb_run.py:1730 in log",
    "training_step": "model.py:40 in training_step",
}
SILENT = (
    "train.py:31 in main",
    "train.py:1 in <module>",
    "/work/run.py:80",
    "/opt/lib/torch/nn/modules/module.py:1773 in _wrapped_call_impl",
    "/opt/lib/torch/nn/modules/module.py:1784 in _call_impl",
    "/opt/lib/torch/nn/modules/module.py:1940 in __getattr__",
    "/opt/lib/torch/nn/modules/container.py:340 in __getitem__",
    "/opt/lib/torch/utils/_contextlib.py:120 in decorate_context",
    "/opt/lib/torch/amp/autocast_mode.py:44 in decorate_autocast",
    "/opt/lib/torch/_dynamo/eval_frame.py:745 in compile_wrapper",
    "/opt/lib/torch/optim/lr_scheduler.py:140 in wrapper",
    "/opt/lib/transformers/trainer.py:2548 in _inner_training_loop",
    "/opt/lib/transformers/utils/generic.py:940 in wrapper",
    "/opt/lib/lightning/pytorch/loops/training_epoch_loop.py:269 in on_advance_end",
    "/opt/lib/requests/models.py:1024 in raise_for_status",
    "/usr/lib/python3.11/runpy.py:86 in _run_code",
)
"""Frames that everything passes through, or that say nothing."""


def frames_of(work):
    """The frames of what something ends in, as they are read from what it prints."""
    with pytest.raises(BaseException) as error:  # noqa: PT011
        work()
    printed = "".join(traceback.format_exception(error.value))
    return read_text("-", [f"step 1 loss 2.0\n{printed}".encode()]).events[-1].frames


def place_of(*frames):
    """The innermost known place."""
    return next((place.id for place in places_of(frames)), None)


def stale_state():
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    optimizer = torch.optim.AdamW([weight], foreach=False)
    optimizer.step()
    optimizer.state[weight]["exp_avg"] = torch.ones(3)
    optimizer.step()


def scaled_twice():
    scaler = torch.amp.GradScaler("cpu")
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], 0.1)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


def not_utf8():
    Path("latin").write_bytes("Ärger".encode("latin-1"))
    with Path("latin").open(encoding="utf-8") as file:
        file.read()


def cut_archive():
    Path("cut.gz").write_bytes(gzip.compress(b"text" * 1000)[:20])
    with gzip.open("cut.gz") as file:
        file.read()


def batches(workers):
    list(torch.utils.data.DataLoader(Texts(4, fails_at=2), num_workers=workers))


def no_padding():
    from tokenizers import Tokenizer, models

    made = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made)
    rows = [{"input_ids": [1]}, {"input_ids": [1, 2]}]
    transformers.DataCollatorWithPadding(tokenizer)(rows)


BESIDE_MESSAGES = {
    "label_outside": "loss", "id_outside": "table", "matrix_shapes": "forward",
    "graph_freed": "backward", "optimizer_groups": "optimizer_building",
    "optimizer_state": "optimizer_loading", "schedule_overrun": "schedule",
    "norm_not_finite": "clipping", "weights_do_not_fit": "checkpoint_loading",
    "file_broken": "checkpoint_loading", "uneven_batch": "data_collation",
    "no_examples": "data_sampler", "record_not_parsed": "data_parsing",
    "model_not_there": "checkpoint_of_hub",
}  # fmt: skip
"""The places of what has a known message, too."""

HERE = {
    "loss module": (lambda: nn.NLLLoss()(torch.ones(2, 3), torch.tensor([0, -1])), "loss"),
    "norm": (lambda: nn.LayerNorm(4)(torch.ones(2, 3)), "normalization"),
    "optimizer": (stale_state, "optimizer_step"),
    "scaler": (scaled_twice, "scaler"),
    "no folder": (lambda: torch.save({}, "no/folder/x.pt"), "checkpoint_saving"),
    "dataset": (lambda: batches(0), "data_item"),
    "dataset in a worker": (lambda: batches(1), "data_item"),
    "encoding": (not_utf8, "data_decoding"),
    "archive": (cut_archive, "data_decompression"),
    "forward of transformers": (lambda: causal_model()(torch.zeros(1, 13).long()), "table"),
    "no padding token": (no_padding, "data_padding"),
}
ALL = HERE | {name: (RAISED[name], place) for name, place in BESIDE_MESSAGES.items()}


@pytest.mark.parametrize("name", ALL)
def test_a_printed_traceback_names_its_place(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work, expected = ALL[name]
    assert place_of(*frames_of(work)) == expected


class Ends(transformers.TrainerCallback):
    def on_step_end(self, *_, **__):
        raise ValueError("nothing to log")


def compute_metrics(predictions):
    raise ValueError("shapes differ")


def my_loss(outputs, labels, num_items_in_batch=None):
    return functional.cross_entropy(outputs.logits, labels)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"callbacks": [Ends()]}, ["callback"]),
        ({"train_dataset": Texts(4, fails_at=1)}, ["data_item", "data_loader"]),
        ({"compute_loss_func": my_loss}, ["loss"]),
        ({"compute_metrics": compute_metrics}, ["metrics", "evaluation"]),
    ],
)
def test_what_ends_a_trainer_names_its_place_and_those_around_it(tmp_path, options, expected):
    evaluated = "steps" if "compute_metrics" in options else "no"
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=1, per_device_train_batch_size=2, report_to=[], use_cpu=True,
        disable_tqdm=True, save_strategy="no", eval_strategy=evaluated, eval_steps=1,
    )  # fmt: skip
    data = {"train_dataset": Texts(4), "eval_dataset": Texts(2)}
    trainer = transformers.Trainer(causal_model(), arguments, **data | options)
    found = [place.id for place in places_of(frames_of(trainer.train))]
    assert found[: len(expected)] == expected


def test_every_place_has_an_example_and_what_all_pass_through_names_none():
    assert list(EXAMPLES) == [place.id for place in places()]
    assert {name: place_of(frame) for name, frame in EXAMPLES.items()} == {
        name: name for name in EXAMPLES
    }
    assert [frame for frame in SILENT if place_of(frame) is not None] == []
