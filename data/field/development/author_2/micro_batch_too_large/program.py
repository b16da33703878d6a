"""Trainer: a small ViT tells the main colour of painted tiles."""

import argparse
import resource
from dataclasses import dataclass

import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

from field_record import TrainerRecord


@dataclass
class Plan:
    effective_batch: int = 512
    micro_batch: int = 512
    updates: int = 11
    tiles: int = 768
    container_mb: int = 220

    @property
    def accumulation(self):
        return self.effective_batch // self.micro_batch


class Tiles(Dataset):
    COLOURS = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.1, 0.2, 0.9], [0.8, 0.8, 0.1]])

    def __init__(self, n, seed):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 4, (n,), generator=generator)
        noise = torch.randn(n, 3, 32, 32, generator=generator) * 0.3
        self.pixels = (self.COLOURS[self.labels][:, :, None, None] + noise - 0.4).half()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"pixel_values": self.pixels[index].float(), "labels": self.labels[index]}


def container(megabytes):
    used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + megabytes * 2**20,) * 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    plan = Plan(micro_batch=32) if args.healthy else Plan()
    config = ViTConfig(
        image_size=32,
        patch_size=4,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=192,
        num_labels=4,
    )
    model, tiles = ViTForImageClassification(config), Tiles(plan.tiles, args.seed)
    arguments = TrainingArguments(
        "out",
        max_steps=plan.updates,
        per_device_train_batch_size=plan.micro_batch,
        gradient_accumulation_steps=plan.accumulation,
        learning_rate=4e-3,
        lr_scheduler_type="cosine",
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    container(plan.container_mb)
    print(f"{plan.accumulation} x {plan.micro_batch} tiles an update, limit {plan.container_mb} MB above the start")
    Trainer(model, arguments, train_dataset=tiles, callbacks=[TrainerRecord()]).train()


if __name__ == "__main__":
    main()
