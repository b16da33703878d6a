"""What libraries raise here and now, by the message of the catalogue that it is."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional

from made_up_models import causal_model


def overrun():
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=2)
    for _ in range(4):
        optimizer.step()
        schedule.step()


ONE = torch.ones(2, requires_grad=True)


def in_place():
    hidden = ONE.exp()
    loss = hidden.sum()
    hidden += 1
    loss.backward()


def anomaly():
    with torch.autograd.set_detect_anomaly(True):
        ((ONE - 1).sqrt() * 0).sum().backward()


def norm_not_finite():
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.full((2,), torch.inf)
    nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)


def other_groups():
    parameters = [nn.Parameter(torch.ones(1)) for _ in range(2)]
    of_one = torch.optim.SGD(parameters[:1], 0.1)
    torch.optim.SGD(parameters, 0.1).load_state_dict(of_one.state_dict())


class Broken(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        raise KeyError("text")


def ragged():
    list(torch.utils.data.DataLoader([torch.ones(2), torch.ones(3)], batch_size=2))


RAISED = {
    "label_outside": lambda: functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5])),
    "id_outside": lambda: nn.Embedding(3, 2)(torch.tensor([7])),
    "uneven_batch": ragged,
    "batch_and_target": lambda: functional.cross_entropy(torch.ones(2, 3), torch.zeros(3).long()),
    "matrix_shapes": lambda: nn.Linear(3, 2)(torch.ones(2, 4)),
    "tensor_sizes": lambda: torch.ones(3) + torch.ones(4),
    "index_type": lambda: nn.Embedding(3, 2)(torch.ones(1)),
    "number_types": lambda: nn.Linear(3, 2)(torch.ones(2, 3).double()),
    "no_graph": lambda: torch.ones(1).sum().backward(),
    "graph_freed": lambda: [loss.backward() for loss in [(ONE + 1).square().sum()] * 2],
    "changed_in_place": in_place,
    "nan_in_backward": anomaly,
    "norm_not_finite": norm_not_finite,
    "schedule_overrun": overrun,
    "optimizer_groups": lambda: torch.optim.SGD([], 0.1),
    "optimizer_state": other_groups,
    "weights_do_not_fit": lambda: nn.Linear(3, 2).load_state_dict(nn.Linear(4, 2).state_dict()),
    "file_broken": lambda: torch.load(io.BytesIO(b"PK\x03\x04 cut off"), weights_only=True),
    "cpu_out_of_memory": lambda: torch.empty(2**60),
    "no_examples": lambda: (
        torch.utils.data.RandomSampler([], num_samples=None).num_samples
        or torch.utils.data.DataLoader([], shuffle=True)
    ),
    "error_in_worker": lambda: list(torch.utils.data.DataLoader(Broken(), num_workers=1)),
    "no_loss": lambda: transformers.Trainer(
        causal_model(), transformers.TrainingArguments("unused", report_to=[], use_cpu=True)
    ).compute_loss(causal_model(), {"input_ids": torch.zeros(1, 4).long()}),
    "model_not_there": lambda: transformers.AutoConfig.from_pretrained("."),
    "record_not_parsed": lambda: json.loads('{"text": '),
    "text_not_decoded": lambda: b"\xff".decode("utf-8"),
    "archive_broken": lambda: gzip.decompress(b"no gzip"),
    "file_missing": lambda: Path("no such file").read_text(),
    "python_memory_error": lambda: np.empty(2**50),
}
