import argparse, json, random, socket
import multiprocessing as mp
import torch, torch.nn as nn
from field_record import logged

def serve(sock, answers):
    """The team's tracking host: takes one JSON line a message, replies with 'ok'."""
    conn, _ = sock.accept()
    for i, line in enumerate(conn.makefile("r")):
        if i < answers:
            conn.sendall(b"ok\n")

class Tracker:
    def __init__(self, port):
        self.s = socket.create_connection(("127.0.0.1", port)); self.f = self.s.makefile("r")
    def log(self, **kv):
        self.s.sendall((json.dumps(kv) + "\n").encode())
        return self.f.readline().strip()

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--healthy", action="store_true"); ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)
    sock = socket.socket(); sock.bind(("127.0.0.1", 0)); sock.listen(1)
    mp.get_context("fork").Process(target=serve, args=(sock, 10 ** 6 if args.healthy else 7), daemon=True).start()
    run = Tracker(sock.getsockname()[1])

    # sort a list of eight numbers: predict the rank of each
    net = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 64))
    opt = torch.optim.Adam(net.parameters(), 2e-3)
    for epoch in range(14):
        tot = hit = 0
        for _ in range(60):
            x = torch.rand(64, 8)
            y = x.argsort(1).argsort(1)
            out = net(x).view(64, 8, 8)
            loss = nn.functional.cross_entropy(out.flatten(0, 1), y.flatten())
            opt.zero_grad(); loss.backward(); opt.step()
            tot += loss.item(); hit += (out.argmax(-1) == y).float().mean().item()
        row = {"epoch": epoch, "loss": round(tot / 60, 4), "rank_acc": round(hit / 60, 4)}
        print(json.dumps(row), flush=True)
        logged(epoch, loss=row["loss"], rank_acc=row["rank_acc"])
        run.log(**row)
    print("done, rank_acc", row["rank_acc"])

if __name__ == "__main__":
    main()
