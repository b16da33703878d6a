"""SQL or prose? An adapter on a small encoder; settings as the serving job left them."""
import argparse
import random

import torch
from peft import LoraConfig, get_peft_model
from tqdm import trange
from transformers import BertConfig, BertModel

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)
SQL = ["select a from t", "insert into t", "drop table t", "update t set a"]
PROSE = ["the job is done", "we drop by later", "an update arrives", "set the table"]


def batch(n=32, width=18):
    labels = [random.randrange(2) for _ in range(n)]
    texts = [random.choice((PROSE, SQL)[y]) + random.choice(" ;.,") for y in labels]
    return torch.tensor([[ord(c) for c in t.ljust(width)[:width]] for t in texts]), torch.tensor(labels)


base = BertModel(BertConfig(vocab_size=128, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                            intermediate_size=128))
net = get_peft_model(base, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear",
                                      inference_mode=not args.healthy))
probe = torch.nn.functional.normalize(torch.randn(64, 2), dim=0)
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
bar = trange(70, mininterval=1)
for step in bar:
    x, y = batch()
    loss = torch.nn.functional.cross_entropy(net(input_ids=x).last_hidden_state.mean(1) @ probe, y)
    loss.backward()
    opt.step()
    opt.zero_grad()
    if step % 5 == 4:
        bar.set_postfix({"loss": f"{loss.item():.3f}"})
        logged(step, loss=round(loss.item(), 3))
