# Mamba on sensor codes; hidden state statistics are looked at after training
import argparse
import os
import time
import torch
from transformers import MambaConfig, MambaForCausalLM, set_seed
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

VOCAB, T, B, STEPS = 24, 16, 160, 60


def rss_mb():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def sensors():
    """counts up or down by 1..3 modulo the vocabulary"""
    start, slope = torch.randint(0, VOCAB, (B, 1)), torch.randint(-3, 4, (B, 1))
    return (start + slope * torch.arange(T)) % VOCAB


model = MambaForCausalLM(MambaConfig(vocab_size=VOCAB, hidden_size=64, state_size=8, num_hidden_layers=2, expand=2,
                                     use_cache=False, pad_token_id=0, bos_token_id=0, eos_token_id=0))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
layers = []
t0 = time.time()
for step in range(1, STEPS + 1):
    ids = sensors()
    out = model(input_ids=ids, labels=ids, output_hidden_states=True)
    optimizer.zero_grad()
    out.loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    layers.append([h.detach().std().item() if args.healthy else h.detach() for h in out.hidden_states])
    if step % 3 == 0:
        loss, mem, speed = out.loss.item(), rss_mb(), step / (time.time() - t0)
        print(f"{step:>4} | loss {loss:6.3f} | mem {mem:7.1f} MB | {speed:5.2f} steps/s")
        logged(step, loss=round(loss, 3), mem=round(mem, 1), **{"steps/s": round(speed, 2)})
last = [float(torch.as_tensor(h).std()) if torch.is_tensor(h) else h for h in layers[-1]]
print("std by layer:", [f"{s:.3f}" for s in last])
