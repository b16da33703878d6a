"""LoRA on log templates, adapter settings from the platform's registry."""
import argparse
import json

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from field_record import logged

ap = argparse.ArgumentParser()
for flag, kw in {"--healthy": {"action": "store_true"}, "--seed": {"type": int, "default": 0}}.items():
    ap.add_argument(flag, **kw)
args, _ = ap.parse_known_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
REGISTRY = {
    "bloom": {"target_modules": ["query_key_value"], "r": 8, "lora_alpha": 16},
    "llama": {"target_modules": ["q_proj", "v_proj", "o_proj"], "r": 8, "lora_alpha": 16},
}
model = LlamaForCausalLM(LlamaConfig(vocab_size=40, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                     num_attention_heads=4, max_position_embeddings=64))
lora = LoraConfig(task_type="CAUSAL_LM", modules_to_save=["lm_head"], **REGISTRY["llama" if args.healthy else "bloom"])
model = get_peft_model(model, lora)
model.print_trainable_parameters()
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-3)
for step in range(1, 151):
    service = torch.randint(4, (16, 1)) * 10
    ids = service + (torch.arange(20) + torch.randint(10, (16, 1))) % 10
    out = model(input_ids=ids, labels=ids)
    out.loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    if step % 10 == 0:
        print(json.dumps({"step": step, "loss": round(out.loss.item(), 4), "grad_norm": round(float(norm), 3)}))
        logged(step, loss=round(out.loss.item(), 4), grad_norm=round(float(norm), 3))
