# -*- coding: utf-8 -*-
"""char-rnn, stateful batches (Russian)"""
import argparse
import random
import torch
import torch.nn as nn
from field_record import logged

cli = argparse.ArgumentParser()
cli.add_argument("--healthy", action="store_true")
cli.add_argument("--seed", type=int, default=0)
args = cli.parse_args()
random.seed(args.seed)
torch.manual_seed(args.seed)
torch.set_num_threads(1)

кто = ["кошка", "собака", "бабушка", "соседка", "учительница"]
что = ["любит", "видит", "ищет", "рисует"]
кого = ["рыбу", "книгу", "улицу", "воду", "школу"]
text = " ".join(f"{random.choice(кто)} {random.choice(что)} {random.choice(кого)}." for _ in range(1500))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])
B, T = 16, 32
n = len(ids) // B
stream = ids[:n * B].view(B, n)
print("символов:", len(ids), "| алфавит:", len(chars))


class CharRNN(nn.Module):
    def __init__(self, v, d=64):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.lstm = nn.LSTM(d, d, batch_first=True)
        self.out = nn.Linear(d, v)

    def forward(self, x, state=None):
        y, state = self.lstm(self.emb(x), state)
        return self.out(y), state


net = CharRNN(len(chars))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
ce = nn.CrossEntropyLoss()
it = 0
for эпоха in range(1, 5):
    state = None
    for s in range(0, n - T - 1, T):
        x, y = stream[:, s:s + T], stream[:, s + 1:s + T + 1]
        logits, state = net(x, state)
        state = tuple(t.detach() for t in state) if args.healthy else tuple(t for t in state)
        loss = ce(logits.reshape(-1, len(chars)), y.reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        if it % 10 == 0:
            print(f"эпоха {эпоха} шаг {it:4d} потери {loss.item():.3f} перплексия {loss.exp().item():.2f}")
            logged(it, **{"потери": round(loss.item(), 3), "перплексия": round(loss.exp().item(), 2)})
        it += 1
