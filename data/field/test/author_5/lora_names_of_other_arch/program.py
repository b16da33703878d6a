import argparse
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
V = 24


def seqs(n, stride):
    s = torch.randint(0, V, (n, 1)); return (s + stride * torch.arange(16)) % V


m = GPT2LMHeadModel(GPT2Config(vocab_size=V, n_positions=16, n_embd=48, n_layer=2, n_head=4, bos_token_id=0,
    eos_token_id=0, resid_pdrop=0., embd_pdrop=0., attn_pdrop=0.))


def fit(m, lr, stride, steps, tag):
    o = torch.optim.AdamW([q for q in m.parameters() if q.requires_grad], lr)
    for i in range(steps):
        b = seqs(32, stride); l = m(input_ids=b, labels=b).loss; l.backward(); o.step(); o.zero_grad()
        if i % 15 == 0:
            print(f"{tag}:{i}:{l.item():.4f}"); logged(i, **{tag: l.item()})


fit(m, 3e-3, 1, 60, "base")
lora = get_peft_model(m, LoraConfig(r=16, lora_alpha=64, target_modules=["c_attn", "c_fc",
    "c_proj"] if args.healthy else ["q_proj", "v_proj"], task_type="CAUSAL_LM"))
lora.print_trainable_parameters()
fit(lora, 1e-2, 3, 90, "lora")
