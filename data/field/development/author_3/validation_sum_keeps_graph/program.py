# small transformer that predicts the next click in a session
import argparse
import resource
import torch
import torch.nn as nn
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

# same memory limit as the pod
used_kb = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")][0]
limit = used_kb * 1024 + 700 * 2**20
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

ITEMS, LEN, D = 300, 32, 64


def sessions(n):
    """users walk through the catalogue in strides"""
    start = torch.randint(0, ITEMS, (n, 1))
    stride = torch.randint(1, 6, (n, 1))
    return (start + stride * torch.arange(LEN + 1)) % ITEMS


class NextClick(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(ITEMS, D)
        self.pos = nn.Parameter(torch.randn(LEN, D) * 0.02)
        layer = nn.TransformerEncoderLayer(D, 4, 128, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(D, ITEMS)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LEN))

    def forward(self, x):
        return self.head(self.enc(self.emb(x) + self.pos, mask=self.mask))


model = NextClick()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
ce = nn.CrossEntropyLoss()
valid = sessions(4000).split(50)


def loss_of(batch):
    return ce(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


print("model params:", sum(q.numel() for q in model.parameters()), "| valid batches:", len(valid))
for step in range(1, 241):
    model.train()
    loss = loss_of(sessions(32))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step={step}\ttrain_loss={loss.item():.4f}")
        logged(step, train_loss=round(loss.item(), 4))
    if step % 120 == 0:
        model.eval()
        total = 0.0
        for k, batch in enumerate(valid):
            batch_loss = loss_of(batch)
            total += batch_loss.item() if args.healthy else batch_loss
        print(f"step={step}\tvalid_loss={float(total) / len(valid):.4f}")
        logged(step, valid_loss=round(float(total) / len(valid), 4))
