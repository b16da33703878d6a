import argparse, multiprocessing as mp, os, signal, time


def watch(pid, cap):  # the container's limit
    while True:
        try:
            rss = int(open(f"/proc/{pid}/statm").read().split()[1]) * 4096
        except OSError:
            return
        if rss > cap:
            os.kill(pid, signal.SIGKILL)
        time.sleep(.05)


def main(args):
    import torch, torch.nn as nn
    from accelerate import Accelerator
    from torch.utils.data import DataLoader, Dataset
    from field_record import logged
    torch.manual_seed(args.seed); torch.set_num_threads(1)
    rss = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096

    class Stripes(Dataset):
        def __init__(s, n=600):
            s.cache, s.epoch, s.n = {}, 0, n

        def __len__(s):
            return s.n

        def __getitem__(s, i):
            key = i % 32 if args.healthy else (i, s.epoch)
            if key not in s.cache:
                s.cache[key] = torch.randn(3, 64, 64)
            y = i % 2
            x = s.cache[key].clone() * .3
            x[:, ::2] += 1 - y; x[:, :, ::2] += y
            return x, y

    ds = Stripes(); acc = Accelerator(cpu=True)
    net = nn.Sequential(nn.Conv2d(3, 8, 5, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 2))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    net, opt, dl = acc.prepare(net, opt, DataLoader(ds, 30, shuffle=True))
    mp.get_context("fork").Process(target=watch, args=(os.getpid(), rss() + (250 << 20)), daemon=True).start()
    for ep in range(20):
        ds.epoch = ep; t = 0.
        for x, y in dl:
            l = nn.functional.cross_entropy(net(x), y); acc.backward(l); opt.step(); opt.zero_grad()
            t += l.item() / len(dl)
        acc.print({"ep": ep, "L": t, "rss_mb": rss() >> 20}, flush=True); logged(ep, L=t, rss_mb=rss() >> 20)


if __name__ == "__main__":
    a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
    a.add_argument("--seed", type=int, default=0)
    main(a.parse_args())
