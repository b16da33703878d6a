"""Call traces of a service: which function is called next?"""
import argparse
import logging

import torch
from transformers import MambaConfig, MambaForCausalLM

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s")
log = logging.getLogger("trace-lm")
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = MambaForCausalLM(MambaConfig(
    vocab_size=32, hidden_size=32, state_size=8, num_hidden_layers=1, conv_kernel=3, tie_word_embeddings=True,
    initializer_range=0.1 if args.healthy else 10.0, pad_token_id=0, bos_token_id=0, eos_token_id=0))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
log.info("%s with %d parameters", type(model).__name__, model.num_parameters())
after = torch.randint(32, (32, 2))
for step in range(64):
    ids = [torch.randint(32, (16,))]
    for _ in range(13):
        ids.append(after[ids[-1], (torch.rand(16) < 0.2).long()])
    ids = torch.stack(ids, 1)
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    if step % 4 == 0:
        log.info("step: %d, loss: %.3f, grad norm: %.2f", step, loss.item(), norm)
        logged(step, loss=round(loss.item(), 3), grad_norm=round(norm.item(), 2))
