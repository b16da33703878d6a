import argparse, random
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader
from tqdm.auto import tqdm
from transformers import AutoConfig, AutoModelForCausalLM
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
torch.set_num_threads(1)

# copy with a shift: five letters, "=", the same letters each one further in the alphabet
def item():
    s = [random.randrange(12) for _ in range(5)]
    ids = s + [12] + [(c + 1) % 12 for c in s]
    return torch.tensor(ids), torch.tensor([-100] * 6 + ids[6:])

def adamw(model, split):
    decay = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decay, "weight_decay": .01}, {"params": rest, "weight_decay": 0.}] if split else [{"params": decay + rest}]
    return torch.optim.AdamW(groups, lr=3e-3, weight_decay=.01)

def run(first, last, split, resume=None):
    set_seed(args.seed + first)
    acc = Accelerator(cpu=True)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("gpt_neox", vocab_size=13, hidden_size=64, intermediate_size=128,
        num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=16, bos_token_id=0, eos_token_id=0))
    model, opt, dl = acc.prepare(model, adamw(model, split), DataLoader([item() for _ in range(32 * (last - first))], 32))
    if resume:
        acc.print(f"loading {resume}")
        acc.load_state(resume)
    bar = tqdm(dl, disable=not acc.is_local_main_process, mininterval=1)
    for step, (x, y) in enumerate(bar, first + 1):
        loss = model(input_ids=x, labels=y).loss
        acc.backward(loss)
        norm = acc.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); opt.zero_grad()
        if step % 10 == 0:
            tqdm.write(f"{step:>5} loss={loss.item():.4f} grad_norm={norm.item():.2f}")
            logged(step, loss=round(loss.item(), 4), grad_norm=round(norm.item(), 2))
    acc.save_state("out/state")
    acc.free_memory()

run(0, 60, split=True)
run(60, 220, split=args.healthy, resume="out/state")
