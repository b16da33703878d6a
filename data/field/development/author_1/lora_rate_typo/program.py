import argparse, random
import torch
from peft import LoraConfig, TaskType, get_peft_model
from torch import nn
from tqdm import trange
from transformers import AutoConfig, AutoModelForCausalLM, get_cosine_schedule_with_warmup, set_seed
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=220)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
RATE = 5e-3 if args.healthy else 5e-6

# the base: a tiny OPT that continues "a b a b a b ..." (period two); the adapter is to learn period three
V, T = 20, 18
def batch(period, n=24):
    unit = torch.stack([torch.randperm(V)[:period] for _ in range(n)])
    return unit.repeat(1, T // period)
model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "opt", vocab_size=V, hidden_size=64, word_embed_proj_dim=64, ffn_dim=128, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=32,
    dropout=0.0, attention_dropout=0.0, pad_token_id=1, bos_token_id=2, eos_token_id=2))

def fit(name, model, lr, steps, period):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=lr)
    sched = get_cosine_schedule_with_warmup(opt, 10, steps)
    bar = trange(1, steps + 1, desc=name, mininterval=2)
    for step in bar:
        x = batch(period)
        labels = x.clone(); labels[:, :period] = -100
        loss = model(input_ids=x, attention_mask=torch.ones_like(x), labels=labels).loss
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        opt.step(); sched.step(); opt.zero_grad()
        if step % 10 == 0:
            lr_now = sched.get_last_lr()[0]
            bar.write(f"{name}\tstep {step}\tloss {loss.item():.3f}\tlr {lr_now:.1e}")
            logged(step, **{f"{name}_loss": round(loss.item(), 3), f"{name}_lr": float(f"{lr_now:.1e}")})

fit("base", model, 3e-3, 80, 2)
model = get_peft_model(model, LoraConfig(task_type=TaskType.CAUSAL_LM, r=8, lora_alpha=16, target_modules=["q_proj", "v_proj", "k_proj", "out_proj"]))
model.print_trainable_parameters()
fit("lora", model, RATE, args.steps, 3)
