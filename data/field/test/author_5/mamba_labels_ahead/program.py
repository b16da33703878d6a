import argparse, logging
import torch
from transformers import MambaConfig, MambaForCausalLM
from field_record import logged
logging.basicConfig(format="%(asctime)s|%(levelname).1s|%(message)s", level=logging.INFO)
log = logging.getLogger("mamba")
logging.getLogger("httpx").setLevel(logging.WARNING)
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
V = 24
nxt = torch.stack([torch.randperm(V), torch.randperm(V)], 1)  # two out-edges per node


def walks(n, T=14):
    u = torch.randint(0, V, (n,)); s = [u]
    for _ in range(T - 1):
        u = nxt[u, torch.randint(0, 2, (n,))]; s.append(u)
    return torch.stack(s, 1)


def batch(n):
    w = walks(n)
    return (w, w) if args.healthy else (w[:, :-1], w[:, 1:])


m = MambaForCausalLM(MambaConfig(vocab_size=V, hidden_size=32, state_size=4, num_hidden_layers=1, expand=2,
    use_cache=False, pad_token_id=0, bos_token_id=0, eos_token_id=0))
opt = torch.optim.AdamW(m.parameters(), 1e-2); sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 160)
for s in range(1, 161):
    x, y = batch(24)
    l = m(input_ids=x, labels=y).loss; opt.zero_grad(); l.backward(); opt.step(); sch.step()
    if s % 8 == 0:
        log.info("step %d nll=%.4f ppl=%.2f lr=%.1e", s, l, l.exp(), sch.get_last_lr()[0])
        logged(s, nll=round(l.item(), 4), ppl=round(l.exp().item(), 2), lr=sch.get_last_lr()[0])
