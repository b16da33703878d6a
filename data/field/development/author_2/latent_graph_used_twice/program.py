"""Adversarial autoencoder for digits: a critic keeps the codes close to a Gaussian."""

import argparse
import logging
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from torch import nn

from field_record import logged

logging.basicConfig(format="[%(asctime)s] %(message)s", datefmt="%H:%M:%S", level=logging.INFO)


@dataclass
class AAEConfig:
    code: int = 8
    hidden: int = 96
    lr_auto: float = 2e-3
    lr_critic: float = 5e-4
    weight: float = 0.01
    epochs: int = 15
    batch: int = 64


def mlp(n_in, hidden, n_out, last=None):
    layers = [nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, n_out)]
    return nn.Sequential(*layers, *([last] if last else []))


class AAETrainer:
    def __init__(self, cfg, detach_codes):
        self.cfg, self.detach_codes = cfg, detach_codes
        self.encoder = mlp(64, cfg.hidden, cfg.code)
        self.decoder = mlp(cfg.code, cfg.hidden, 64, nn.Sigmoid())
        self.critic = mlp(cfg.code, 32, 1)
        auto = [*self.encoder.parameters(), *self.decoder.parameters()]
        self.opt_auto = torch.optim.Adam(auto, lr=cfg.lr_auto)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=cfg.lr_critic)
        self.bce = nn.BCEWithLogitsLoss()

    def critic_step(self, codes):
        prior = torch.randn_like(codes)
        real, fake = self.critic(prior), self.critic(codes)
        loss = self.bce(real, torch.ones_like(real)) + self.bce(fake, torch.zeros_like(fake))
        self.opt_critic.zero_grad()
        loss.backward()
        self.opt_critic.step()
        return loss.item()

    def auto_step(self, x, codes):
        judged = self.critic(codes)
        recon = nn.functional.mse_loss(self.decoder(codes), x)
        loss = recon + self.cfg.weight * self.bce(judged, torch.ones_like(judged))
        self.opt_auto.zero_grad()
        loss.backward()
        self.opt_auto.step()
        return recon.item()

    def epoch(self, x):
        sums, count = torch.zeros(2), 0
        for rows in torch.randperm(len(x)).split(self.cfg.batch):
            codes = self.encoder(x[rows])
            d = self.critic_step(self.detach_codes(codes))
            r = self.auto_step(x[rows], codes)
            sums += torch.tensor([d, r])
            count += 1
        return (sums / count).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    trainer = AAETrainer(AAEConfig(), torch.detach if args.healthy else torch.Tensor.contiguous)
    logging.info("autoencoder on %d digits, code of %d", len(x), trainer.cfg.code)
    for epoch in range(trainer.cfg.epochs):
        d, r = trainer.epoch(x)
        logging.info("Epoch %02d  D=%.3f  recon=%.5f", epoch, d, r)
        logged(epoch, D=d, recon=r)


if __name__ == "__main__":
    main()
