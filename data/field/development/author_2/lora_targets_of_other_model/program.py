"""PEFT: LoRA on a small BERT encoder of alarm codes, the base stays frozen."""

import argparse
import logging
from dataclasses import dataclass

import torch
from peft import LoraConfig, TaskType, get_peft_model
from transformers import AutoConfig, AutoModelForSequenceClassification, get_linear_schedule_with_warmup, set_seed

from field_record import logged

logging.basicConfig(format="%(asctime)s [%(levelname)s] %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = logging.getLogger("lora")


@dataclass
class Config:
    codes: int = 40
    length: int = 16
    rank: int = 8
    alpha: int = 16
    steps: int = 260
    batch: int = 32
    lr: float = 5e-3
    model_type: str = "bert"


class AlarmStream:
    """Alarm sequences; the class tells which of three groups of codes prevails."""

    def __init__(self, cfg):
        self.cfg = cfg

    def batch(self):
        labels = torch.randint(0, 3, (self.cfg.batch,))
        noise = torch.randint(0, self.cfg.codes, (self.cfg.batch, self.cfg.length))
        own = labels[:, None] * 13 + torch.randint(0, 13, noise.shape)
        return torch.where(torch.rand(noise.shape) < 0.4, own, noise), labels


def build(cfg, adapter):
    base = AutoConfig.for_model(
        cfg.model_type,
        vocab_size=cfg.codes,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=32,
        num_labels=3,
    )
    model = get_peft_model(AutoModelForSequenceClassification.from_config(base), adapter)
    model.print_trainable_parameters()
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    cfg = Config()
    targets = ["query", "value"] if args.healthy else ["q_proj", "v_proj"]
    adapter = LoraConfig(
        task_type=TaskType.SEQ_CLS, r=cfg.rank, lora_alpha=cfg.alpha, lora_dropout=0.05, target_modules=targets
    )
    model, stream = build(cfg, adapter), AlarmStream(cfg)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=cfg.lr)
    schedule = get_linear_schedule_with_warmup(optimizer, 20, cfg.steps)
    window, hits = [], []
    for step in range(1, cfg.steps + 1):
        ids, labels = stream.batch()
        output = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels)
        output.loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        window.append(output.loss.item())
        hits.append((output.logits.argmax(-1) == labels).float().mean().item())
        if step % 20 == 0:
            row = {"loss": sum(window[-20:]) / 20, "acc": sum(hits[-20:]) / 20, "lr": schedule.get_last_lr()[0]}
            logger.info("step %d | loss %.3f | acc %.2f | lr %.2e", step, row["loss"], row["acc"], row["lr"])
            logged(step, **row)


if __name__ == "__main__":
    main()
