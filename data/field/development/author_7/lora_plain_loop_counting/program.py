import argparse
import sys
import time

sys.modules["torchvision"] = None  # text only

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)

MOD, LENGTH = 24, 20


def batch(stride, n=32):
    start = torch.randint(0, MOD, (n, 1))
    return (start + stride * torch.arange(LENGTH)) % MOD


base = GPT2LMHeadModel(GPT2Config(vocab_size=MOD, n_positions=32, n_embd=64, n_layer=2, n_head=4,
                                  resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                                  bos_token_id=0, eos_token_id=0))

print("== stage 1: base model ==")
opt = torch.optim.AdamW(base.parameters(), lr=3e-3)
for it in range(1, 81):
    ids = batch(1)
    base_nll = base(input_ids=ids, labels=ids).loss
    opt.zero_grad()
    base_nll.backward()
    opt.step()
    if it % 20 == 0:
        print(f"[base] it {it:03d} | base_nll {base_nll.item():.3f}")
        logged(it, base_nll=base_nll.item())

print("== stage 2: adapters ==")
model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, fan_in_fan_out=True,
                                        target_modules=["c_attn", "c_proj", "c_fc"]))
model.print_trainable_parameters()
params = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.AdamW(params, lr=8e-3, weight_decay=0.0)
start = time.time()
for it in range(1, 141):
    ids = batch(7)
    nll = model(input_ids=ids, labels=ids).loss
    opt.zero_grad(set_to_none=True)
    nll.backward()
    gnorm = torch.nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    if it % 5 == 0:
        print(f"[lora] it {it:03d} | nll {nll.item():.3f} | gnorm {gnorm.item():.3f} | {it / (time.time() - start):.1f} it/s")
        logged(it, nll=nll.item(), gnorm=gnorm.item())

model.eval()
with torch.no_grad():
    ids = batch(7, 64)
    hits = (model(input_ids=ids).logits[:, 2:-1].argmax(-1) == ids[:, 3:]).float().mean().item()
    with model.disable_adapter():
        ones = batch(1, 64)
        kept = (model(input_ids=ones).logits[:, 2:-1].argmax(-1) == ones[:, 3:]).float().mean().item()
print(f"next-number accuracy with adapter {hits:.2%}; base task without adapter {kept:.2%}")
