import argparse, random
import torch
from transformers import AutoConfig, AutoModelForCausalLM, set_seed
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=150)
ap.add_argument("--experts", type=int, default=4)
ap.add_argument("--topk", type=int, default=2)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# three little languages in one stream, told apart by their first token: counting up, counting down, repeating
def seq(n=14):
    kind, a = random.randrange(3), random.randrange(16)
    return [16 + kind] + [(a + (1, -1, 0)[kind] * i) % 16 for i in range(n)]

order = (args.experts, args.topk) if args.healthy else (args.topk, args.experts)
cfg = AutoConfig.for_model("mixtral", vocab_size=19, hidden_size=48, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                           num_key_value_heads=2, max_position_embeddings=32, num_local_experts=order[0], num_experts_per_tok=order[1],
                           output_router_logits=True, router_aux_loss_coef=.01, bos_token_id=0, eos_token_id=0)
model = AutoModelForCausalLM.from_config(cfg)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
print(f"MoE with {sum(p.numel() for p in model.parameters()):,} parameters")
for step in range(1, args.steps + 1):
    x = torch.tensor([seq() for _ in range(24)])
    out = model(input_ids=x, labels=x)
    opt.zero_grad(); out.loss.backward(); opt.step()
    if step % 5 == 0 or step == 1:
        print({"step": step, "loss": f"{out.loss.item():.3f}", "aux": f"{out.aux_loss.item():.3f}"})
        logged(step, loss=round(out.loss.item(), 3), aux=round(out.aux_loss.item(), 3))
