"""PEFT: an adapter of an earlier run is taken up and trained on (frozen base, LoRA)."""
import argparse
import random

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoConfig, AutoModelForSequenceClassification, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord


def base_model(seed: int):
    set_seed(seed)
    config = AutoConfig.for_model("bert", vocab_size=24, hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
                                  max_position_embeddings=32, num_labels=2)
    return AutoModelForSequenceClassification.from_config(config)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng = random.Random(args.seed)
    lora = LoraConfig(task_type="SEQ_CLS", r=8, lora_alpha=32, target_modules=["query", "value"])
    get_peft_model(base_model(args.seed), lora).save_pretrained("out/adapter")
    model = PeftModel.from_pretrained(base_model(args.seed), "out/adapter", is_trainable=args.healthy)
    rows = []
    for i in range(640):
        ids = [rng.randrange(4, 14) if i % 2 else rng.randrange(12, 24) for _ in range(10)]
        rows.append({"input_ids": ids, "attention_mask": [1] * 10, "labels": i % 2})
    training = TrainingArguments("out", per_device_train_batch_size=16, max_steps=80, learning_rate=1e-2, logging_steps=5, save_strategy="no",
                                 report_to=[], use_cpu=True, seed=args.seed)
    Trainer(model, training, train_dataset=rows, callbacks=[TrainerRecord()]).train()


if __name__ == "__main__":
    main()
