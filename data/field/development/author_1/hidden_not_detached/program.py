import argparse, random
import torch
from torch import nn
from field_record import logged

ap = argparse.ArgumentParser(description="stateful LSTM LM, truncated BPTT")
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--bptt", type=int, default=20)
ap.add_argument("--batch", type=int, default=16)
ap.add_argument("--epochs", type=int, default=4)
args = ap.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

# countdown text: "7 6 5 4 3 2 1 go" from a random start, now and then "stop" half way
toks = []
while len(toks) < 24000:
    k = random.randint(3, 9)
    for d in range(k, 0, -1):
        toks.append(str(d))
        if random.random() < .03:
            toks.append("stop"); break
    else:
        toks.append("go")
vocab = sorted(set(toks))
ids = torch.tensor([vocab.index(t) for t in toks])
stream = ids[: len(ids) // args.batch * args.batch].view(args.batch, -1)

class LM(nn.Module):
    def __init__(self, v, d=48):
        super().__init__()
        self.emb, self.lstm, self.dec = nn.Embedding(v, d), nn.LSTM(d, d, batch_first=True), nn.Linear(d, v)
    def forward(self, x, state=None):
        h, state = self.lstm(self.emb(x), state)
        return self.dec(h), state

def repackage(state):
    return tuple(s.detach() if args.healthy else s for s in state)

model = LM(len(vocab))
opt = torch.optim.SGD(model.parameters(), lr=1.0, momentum=.5)
step = 0
for epoch in range(args.epochs):
    state = None
    for at in range(0, stream.size(1) - args.bptt - 1, args.bptt):
        x, y = stream[:, at:at + args.bptt], stream[:, at + 1:at + args.bptt + 1]
        logits, state = model(x, state)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), .25)
        opt.step()
        state = repackage(state)
        if step % 25 == 0:
            print("| epoch %d | step %4d | lr %.2f | loss %5.2f | ppl %6.2f" % (epoch, step, 1.0, loss.item(), loss.exp().item()))
            logged(step, lr=1.0, loss=round(loss.item(), 2), ppl=round(loss.exp().item(), 2))
        step += 1
