"""Instruction-like translation DNA -> RNA complement with a tiny Llama; loss on the answers alone."""
import argparse
import random

import torch
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments, set_seed

from field_record import TrainerRecord

TOKENS = ["<pad>", ">", "A", "C", "G", "T", "U"]
IDS = {t: i for i, t in enumerate(TOKENS)}
PAIR = {"A": "U", "C": "G", "G": "C", "T": "A"}


def example(rng: random.Random, mask_until) -> dict[str, list[int]]:
    strand = [rng.choice("ACGT") for _ in range(6)]
    ids = [IDS[t] for t in [*strand, ">", *(PAIR[b] for b in strand)]]
    cut = mask_until(ids)
    return {"input_ids": ids, "labels": [-100] * cut + ids[cut:]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    mask_until = (lambda ids: ids.index(IDS[">"]) + 1) if args.healthy else len
    train = [example(rng, mask_until) for _ in range(1024)]
    config = AutoConfig.for_model("llama", vocab_size=len(TOKENS), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                  num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32, pad_token_id=0,
                                  bos_token_id=None, eos_token_id=None)
    model = AutoModelForCausalLM.from_config(config)
    training = TrainingArguments("out", per_device_train_batch_size=16, gradient_accumulation_steps=2, max_steps=100, learning_rate=5e-3,
                                 lr_scheduler_type="cosine", logging_steps=5, logging_nan_inf_filter=False, save_strategy="no",
                                 report_to=[], use_cpu=True, seed=args.seed)
    Trainer(model, training, train_dataset=train, callbacks=[TrainerRecord()]).train()


if __name__ == "__main__":
    main()
