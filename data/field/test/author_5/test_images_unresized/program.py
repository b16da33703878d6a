import argparse
import timm, timm.optim, torch, torch.nn.functional as F
from sklearn.datasets import load_digits
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
d = load_digits(); X = torch.tensor(d.images).float()[:, None] / 8 - 1; Y = torch.tensor(d.target)
i = torch.randperm(len(X)); tr, te = i[:1400], i[1400:]
grow = lambda x: F.interpolate(x, (32, 32), mode="bilinear")
tf = {"train": lambda x: grow(x) + .05 * torch.randn(len(x), 1, 32, 32),
    "test": grow if args.healthy else (lambda x: F.interpolate(x, (28, 28), mode="bilinear"))}
net = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=32, patch_size=8, in_chans=1, embed_dim=48,
    depth=2, num_heads=3, num_classes=10)
print(net.patch_embed.img_size, net.patch_embed.grid_size, f"{sum(p.numel() for p in net.parameters()):,}")
opt = timm.optim.create_optimizer_v2(net, opt="adamw", lr=2e-3)
s = 0
for ep in range(8):
    net.train()
    for b in tr[torch.randperm(1400)].split(50):
        l = F.cross_entropy(net(tf["train"](X[b])), Y[b]); opt.zero_grad(); l.backward(); opt.step(); s += 1
        if s % 7 == 0:
            print(s, l.item(), sep=","); logged(s, loss=l.item())
    if ep == 7:
        net.eval()
        with torch.no_grad():
            acc = (net(tf["test"](X[te])).argmax(1) == Y[te]).float().mean().item()
        print(f"top1 {acc:.1%}"); logged(s, top1=acc)
