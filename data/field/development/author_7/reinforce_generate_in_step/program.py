import argparse
import sys

sys.modules["torchvision"] = None  # text only

import torch
import torch.nn.functional as F
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=120)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)

TOPICS = {"<sea>": "wave shell gull salt tide".split(), "<kitchen>": "pan spoon oven flour sugar".split(),
          "<music>": "drum flute chord tune bass".split(), "<garden>": "rose spade hedge seed worm".split()}
WORDS = ["<pad>", *TOPICS, *(w for group in TOPICS.values() for w in group)]
INDEX = {w: i for i, w in enumerate(WORDS)}
FIRST = len(TOPICS) + 1
topic_of = torch.full((len(WORDS),), -1)
for t, group in enumerate(TOPICS.values()):
    for w in group:
        topic_of[INDEX[w]] = t
LENGTH, BATCH = 8, 48

policy = GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), n_positions=16, n_embd=48, n_layer=1, n_head=2, resid_pdrop=0.0,
                                    embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=None, pad_token_id=0))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)


def score(prompt, answer):
    return (topic_of[answer] == (prompt - 1)).float().mean(1)


def show(ids):
    return " ".join(WORDS[i] for i in ids.tolist())


baseline = None
for step in range(1, args.steps + 1):
    prompt = torch.randint(1, FIRST, (BATCH, 1))
    policy.eval()
    rollout = policy.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=True, top_k=0,
                              max_new_tokens=LENGTH, pad_token_id=0)
    answer = rollout[:, 1:]
    rewards = score(prompt, answer)
    reward = rewards.mean().item()
    baseline = reward if baseline is None else 0.9 * baseline + 0.1 * reward
    advantage = rewards - baseline

    policy.train()
    logprobs = F.log_softmax(policy(rollout, attention_mask=torch.ones_like(rollout)).logits[:, :-1], -1)
    taken = logprobs.gather(-1, answer.unsqueeze(-1)).squeeze(-1)
    entropy = -(logprobs.exp() * logprobs).sum(-1).mean()
    pg_loss = -(advantage.unsqueeze(1) * taken).sum(1).mean()
    optimizer.zero_grad()
    (pg_loss - 0.01 * entropy).backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()

    if step % 4 == 0:
        values = {"reward": round(reward, 3), "baseline": round(baseline, 3), "pg_loss": round(pg_loss.item(), 4),
                  "entropy": round(entropy.item(), 3)}
        print({"step": step, **values})
        logged(step, **values)
    if step % 40 == 0:
        print("   sample:", show(rollout[0]))
