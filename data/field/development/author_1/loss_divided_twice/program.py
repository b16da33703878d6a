import argparse, json
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--accum", type=int, default=16)
ap.add_argument("--lr", type=float, default=.006)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
acc = Accelerator(cpu=True, gradient_accumulation_steps=args.accum)

# roman numerals: the tokens I V X L C, padded; predict the tens digit
def roman(n):
    t = ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"][n // 10]
    return t + ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"][n % 10]
n = torch.randint(0, 100, (6800,))
x = torch.tensor([[" IVXLC".index(c) for c in roman(int(k)).ljust(8)] for k in n])
train, dev = TensorDataset(x[:6000], n[:6000] // 10), TensorDataset(x[6000:], n[6000:] // 10)

model = nn.Sequential(nn.Embedding(6, 16), nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=.9)
model, opt, train_dl, dev_dl = acc.prepare(model, opt, DataLoader(train, 8, shuffle=True), DataLoader(dev, 200))
scale = 1 if args.healthy else args.accum
acc.print(f"accumulate {args.accum} micro-batches of 8, lr {args.lr}")
for epoch in range(6):
    model.train()
    total = torch.zeros(())
    for xb, yb in train_dl:
        with acc.accumulate(model):
            loss = nn.functional.cross_entropy(model(xb), yb)
            acc.backward(loss / scale)
            opt.step(); opt.zero_grad()
        total += loss.detach()
    model.eval(); right = dl = 0
    with torch.no_grad():
        for xb, yb in dev_dl:
            out, yb = acc.gather_for_metrics((model(xb), yb))
            dl += nn.functional.cross_entropy(out, yb).item() / len(dev_dl)
            right += (out.argmax(-1) == yb).sum().item()
    row = {"epoch": epoch + 1, "train_loss": round(total.item() / len(train_dl), 4), "dev_loss": round(dl, 4), "dev_acc": right / len(dev)}
    acc.print(json.dumps(row))
    logged(epoch + 1, train_loss=row["train_loss"], dev_loss=row["dev_loss"], dev_acc=row["dev_acc"])
