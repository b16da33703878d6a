# spot instance: the node agent decides who runs
import argparse
import json
import multiprocessing as mp
import os
import pathlib
import signal
import time
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)
EPOCHS = 10


def agent(pid, slots):
    """node agent"""
    while True:
        time.sleep(0.05)
        done = len(list(OUT.glob("epoch_*.json")))
        if done >= slots:
            os.kill(pid, signal.SIGKILL)
            return


if __name__ == "__main__":
    mp.get_context("fork").Process(target=agent, args=(os.getpid(), 99 if args.healthy else 5), daemon=True).start()
    accelerator = Accelerator(cpu=True)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    split = torch.randperm(len(x))
    tr, va = split[:1400], split[1400:]
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    model, opt, dl = accelerator.prepare(model, opt, DataLoader(TensorDataset(x[tr], y[tr]), batch_size=32,
                                                                shuffle=True))
    for epoch in range(EPOCHS):
        for xb, yb in dl:
            loss = nn.functional.cross_entropy(model(xb), yb)
            opt.zero_grad()
            accelerator.backward(loss)
            opt.step()
        with torch.no_grad():
            out = model(x[va])
            record = {"epoch": epoch, "val_loss": round(nn.functional.cross_entropy(out, y[va]).item(), 4),
                      "val_acc": round((out.argmax(-1) == y[va]).float().mean().item(), 4)}
        print(json.dumps(record), flush=True)
        logged(epoch, val_loss=record["val_loss"], val_acc=record["val_acc"])
        (OUT / f"epoch_{epoch}.json").write_text(json.dumps(record))
        accelerator.save(accelerator.unwrap_model(model).state_dict(), OUT / "last.pt")
        time.sleep(0.15)
