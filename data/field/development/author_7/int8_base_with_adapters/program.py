import argparse
import logging
import random
import sys

sys.modules["torchvision"] = None  # text only

import torch
import torch.nn.functional as F
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = random.Random(args.seed)
logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("qadapt")

SPANISH = (["la niña", "el perro", "mi hermano", "el vecino", "la profesora"], ["come", "busca", "compra", "mira"],
           ["pan con queso", "una casa blanca", "los libros viejos", "el tren de noche"])
ITALIAN = (["la ragazza", "il gatto", "mio fratello", "il fornaio", "la maestra"], ["mangia", "cerca", "vende", "guarda"],
           ["pane e olio", "una casa gialla", "i giornali vecchi", "il treno della sera"])
CHARS = sorted(set("".join(w for lang in (SPANISH, ITALIAN) for part in lang for w in part) + " .\n"))
INDEX = {c: i for i, c in enumerate(CHARS)}


def corpus(lang, n=1500):
    text = "".join(" ".join(rng.choice(part) for part in lang) + ".\n" for _ in range(n))
    return torch.tensor([INDEX[c] for c in text])


def batch(ids, n=16, length=48):
    at = torch.randint(0, len(ids) - length, (n,))
    return torch.stack([ids[i:i + length] for i in at])


class Int8Linear(nn.Module):
    """Int8 weights with a scale for each row, dequantised in forward, and a trainable low-rank path."""

    def __init__(self, linear, rank=8, alpha=16):
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(1, keepdim=True) / 127
        self.register_buffer("weight_q", torch.round(weight / scale).to(torch.int8))
        self.register_buffer("scale", scale)
        self.down = nn.Parameter(torch.randn(rank, weight.shape[1]) / weight.shape[1] ** 0.5)
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.gain = alpha / rank

    def forward(self, x):
        frozen = F.linear(x, self.weight_q.to(x.dtype) * self.scale)
        return frozen + self.gain * F.linear(F.linear(x, self.down), self.up)


def quantise(module):
    count = 0
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Int8Linear(child))
            count += 1
        else:
            count += quantise(child)
    return count


def megabytes(model):
    return sum(t.numel() * t.element_size() for t in [*model.parameters(), *model.buffers()]) / 2 ** 20


model = LlamaForCausalLM(LlamaConfig(vocab_size=len(CHARS), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                     num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=64,
                                     bos_token_id=0, eos_token_id=0))
spanish, italian = corpus(SPANISH), corpus(ITALIAN)

optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
for step in range(1, 91):
    ids = batch(spanish)
    base_loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    base_loss.backward()
    optimizer.step()
    if step % 30 == 0:
        log.info("base step=%d base_loss=%.4f", step, base_loss.item())
        logged(step, base_loss=round(base_loss.item(), 4))

before = megabytes(model)
model.requires_grad_(False)
layers = quantise(model.model)
trainable = [p for p in model.parameters() if p.requires_grad]
log.info("%d linear layers to int8, %.2f MB before, %.2f MB now, %d tensors trained", layers, before,
         megabytes(model), len(trainable))

optimizer = torch.optim.AdamW(trainable, lr=5e-3, weight_decay=0.0)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=150, pct_start=0.1)
for step in range(1, 151):
    ids = batch(italian)
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    grad = nn.utils.clip_grad_norm_(trainable, 1.0)
    optimizer.step()
    schedule.step()
    if step % 10 == 0:
        lr = schedule.get_last_lr()[0]
        log.info("adapter step=%d loss=%.4f grad=%.3f lr=%.2e", step, loss.item(), grad.item(), lr)
        logged(step, loss=round(loss.item(), 4), grad=round(grad.item(), 3), lr=lr)

torch.save({k: v for k, v in model.state_dict().items() if k.endswith((".down", ".up"))}, "adapter.pt")
