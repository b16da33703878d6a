# the features come from the feature service (own process), labels are local
import argparse
import multiprocessing as mp
import pickle
import socket
import struct
import time
import numpy as np
import torch
import torch.nn as nn
from accelerate import Accelerator
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)
BATCH, STEPS = 64, 500
UPTIME = 10**9 if args.healthy else 230
rng = np.random.default_rng(args.seed)
TABLE = rng.normal(size=(5000, 20)).astype(np.float32)
LABELS = (TABLE[:, :3].sum(1) + TABLE[:, 5] * TABLE[:, 6] > 0).astype(np.float32)


def read(conn):
    size = struct.unpack("!I", recv_exactly(conn, 4))[0]
    return pickle.loads(recv_exactly(conn, size))


def recv_exactly(conn, n):
    data = b""
    while len(data) < n:
        part = conn.recv(n - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def write(conn, value):
    blob = pickle.dumps(value)
    conn.sendall(struct.pack("!I", len(blob)) + blob)


def service(listener):
    conn, _ = listener.accept()
    served = 0
    while True:
        try:
            ids = read(conn)
        except EOFError:
            return
        while served >= UPTIME:
            time.sleep(1)
        write(conn, TABLE[ids])
        served += 1


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    mp.get_context("fork").Process(target=service, args=(listener,), daemon=True).start()
    client = socket.create_connection(listener.getsockname())
    accelerator = Accelerator(cpu=True)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
    model, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters(), lr=3e-3))
    last = time.time()
    for step in range(1, STEPS + 1):
        ids = rng.integers(0, len(TABLE), BATCH)
        write(client, ids)
        x, y = torch.from_numpy(read(client)), torch.from_numpy(LABELS[ids])
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(-1), y)
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        if step % 20 == 0:
            rate = 20 / (time.time() - last)
            last = time.time()
            accelerator.print(f"шаг {step:>4}/{STEPS}  logloss={loss.item():.4f}  {rate:.0f} it/s", flush=True)
            logged(step, logloss=round(loss.item(), 4))
    accelerator.print("готово")
