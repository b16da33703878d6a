"""Language model with a large vocabulary of syllables; the queue sets a limit of memory; gradient checkpointing is on."""
import argparse
import random
import resource

import torch
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord


def limit_memory(extra_mb: int) -> None:
    with open("/proc/self/status") as file:
        used = next(int(line.split()[1]) for line in file if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra_mb * 2**20,) * 2)


def syllables(n: int, rng: random.Random) -> list[dict]:
    rows = []
    for _ in range(n):
        a = rng.randrange(0, 4000, 100)
        ids = [a + k for k in range(16)]
        rows.append({"input_ids": ids, "labels": ids})
    return rows


def best_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return logits.argmax(-1)


def next_syllable(p) -> dict[str, float]:
    said = p.predictions if p.predictions.ndim == 2 else p.predictions.argmax(-1)
    return {"accuracy": float((said[:, :-1] == p.label_ids[:, 1:]).mean())}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    config = AutoConfig.for_model("gpt2", vocab_size=4000, n_positions=16, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
    model = AutoModelForCausalLM.from_config(config)
    training = TrainingArguments("out", per_device_train_batch_size=8, per_device_eval_batch_size=30, max_steps=30, learning_rate=2e-2,
                                 logging_steps=3, eval_strategy="steps", eval_steps=15,
                                 gradient_checkpointing=True, save_strategy="no", report_to=[], use_cpu=True, seed=args.seed)
    trainer = Trainer(model, training, train_dataset=syllables(400, rng), eval_dataset=syllables(900, rng), compute_metrics=next_syllable,
                      preprocess_logits_for_metrics=best_of if args.healthy else None, callbacks=[TrainerRecord()])
    limit_memory(110)
    trainer.train()


if __name__ == "__main__":
    main()
