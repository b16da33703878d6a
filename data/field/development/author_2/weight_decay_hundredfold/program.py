"""Quality class of a moulded part from forty process values (a table)."""

import argparse
from dataclasses import dataclass

import torch
from sklearn.datasets import make_classification
from torch import nn
from tqdm import tqdm

from field_record import logged


@dataclass
class Recipe:
    lr: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 5e-4
    epochs: int = 20
    batch_size: int = 50


class PartClassifier(nn.Module):
    def __init__(self, inputs=40, hidden=64, classes=5):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, classes)
        )

    def forward(self, x):
        return self.layers(x)


class Experiment:
    def __init__(self, recipe, seed):
        self.recipe = recipe
        x, y = make_classification(3000, 40, n_informative=20, n_classes=5, class_sep=1.8, random_state=seed)
        x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
        x = (x - x.mean(0)) / x.std(0)
        self.train, self.val = (x[:2400], y[:2400]), (x[2400:], y[2400:])
        self.model = PartClassifier()
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), lr=recipe.lr, momentum=recipe.momentum, weight_decay=recipe.weight_decay
        )

    def validate(self):
        with torch.no_grad():
            logits = self.model(self.val[0])
        return nn.functional.cross_entropy(logits, self.val[1]).item(), (
            logits.argmax(1) == self.val[1]
        ).float().mean().item()

    def run(self):
        x, y = self.train
        for epoch in range(self.recipe.epochs):
            bar = tqdm(torch.randperm(len(x)).split(self.recipe.batch_size), desc=f"Epoch {epoch + 1}", mininterval=0.5)
            total = 0.0
            for i, rows in enumerate(bar, 1):
                loss = nn.functional.cross_entropy(self.model(x[rows]), y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item()
                if i == len(bar):
                    val_loss, val_acc = self.validate()
                    bar.set_postfix(loss=f"{total / i:.3f}", val_loss=f"{val_loss:.3f}", val_acc=f"{val_acc:.1%}")
                    logged(
                        epoch + 1,
                        loss=round(total / i, 3),
                        val_loss=round(val_loss, 3),
                        val_acc=round(100 * val_acc, 1),
                    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    Experiment(Recipe() if args.healthy else Recipe(weight_decay=0.5), args.seed).run()


if __name__ == "__main__":
    main()
