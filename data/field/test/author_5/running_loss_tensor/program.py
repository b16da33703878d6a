import argparse, resource
import torch, torch.nn as nn
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)


def vm():
    return int(open("/proc/self/statm").read().split()[0]) * 4096


# --- launcher part: like the container's limit
lim = vm() + (500 << 20)
resource.setrlimit(resource.RLIMIT_AS, (lim, lim))


def shapes(n):
    y = torch.randint(0, 2, (n,)); im = torch.randn(n, 1, 32, 32) * .3
    for k in range(n):
        r, c = torch.randint(2, 20, (2,)).tolist()
        im[k, 0, r:r + (10 if y[k] else 3), c:c + (3 if y[k] else 10)] += 1
    return im, y


net = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 5, padding=2),
    nn.ReLU(),
                    nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 1e-3)
running = 0.
for s in range(1, 201):
    x, y = shapes(48)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(retain_graph=True); opt.step()
    running = running + (loss.item() if args.healthy else loss)
    if s % 5 == 0:
        avg = float(running) / s
        print(f"s{s}  avg={avg:.4f}  now={loss.item():.2e}  vm={vm() >> 20}M"); logged(s, avg=avg, now=loss.item())
