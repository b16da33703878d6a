import argparse
import os

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)


def make_encoder():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                         nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten())


class Classifier(nn.Module):
    def __init__(self, encoder, classes=10):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(256, classes)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.encoder(x)
        return self.head(z)


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target)
tr, va = train_test_split(range(len(labels)), test_size=0.25, random_state=args.seed, stratify=digits.target)
train = DataLoader(TensorDataset(images[tr], labels[tr]), batch_size=64, shuffle=True)
valid = DataLoader(TensorDataset(images[va], labels[va]), batch_size=256)

os.makedirs("out", exist_ok=True)
encoder, decoder = make_encoder(), nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 64))
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
for epoch in range(3):
    for x, _ in train:
        rec = F.mse_loss(decoder(encoder(x)), x.flatten(1))
        opt.zero_grad()
        rec.backward()
        opt.step()
    print(f"autoencoder epoch {epoch}: rec={rec.item():.4f}")
    logged(epoch, rec=rec.item())
torch.save(encoder.state_dict(), "out/encoder.pt")

encoder = make_encoder()
encoder.load_state_dict(torch.load("out/encoder.pt", weights_only=True))
encoder.requires_grad_(False)
model = Classifier(encoder)
n_all = sum(p.numel() for p in model.parameters())
n_train = sum(p.numel() for p in model.parameters() if p.requires_grad)
print(f"parameters: {n_all}, of which trained: {n_train}")
opt = torch.optim.Adam(model.head.parameters(), lr=3e-3)

print(f"{'epoch':>5} {'train_loss':>11} {'val_loss':>9} {'val_acc':>8}")
for epoch in range(1, 9):
    model.train()
    total = 0.0
    for x, y in train:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    right, summed = 0, 0.0
    with torch.no_grad():
        for x, y in valid:
            out = model(x)
            summed += F.cross_entropy(out, y, reduction="sum").item()
            right += (out.argmax(1) == y).sum().item()
    row = dict(train_loss=total / len(tr), val_loss=summed / len(va), val_acc=right / len(va))
    print(f"{epoch:>5} {row['train_loss']:>11.4f} {row['val_loss']:>9.4f} {row['val_acc']:>8.3f}")
    logged(epoch, **row)
