"""DPO: a phoneme model should prefer open syllables (consonant, vowel)."""
import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer

from field_record import TrainerRecord

VOCAB = {t: i for i, t in enumerate(["<pad>", "<eos>", "<unk>", "?", *"ptkmnaiou"])}


def read_pair(rng: random.Random, worse: str) -> dict[str, str]:
    row = {"prompt": rng.choice("ptk") + rng.choice("aiou") + "?",
           "open": "".join(rng.choice("ptkmn") + rng.choice("aiou") for _ in range(2)),
           "closed": "".join(rng.choice("aiou") + rng.choice("ptkmn") for _ in range(2))}
    return {"prompt": row["prompt"], "chosen": row["open"], "rejected": row[worse]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    core = Tokenizer(models.WordLevel(VOCAB, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    worse = "closed" if args.healthy else "open"
    train = Dataset.from_list([read_pair(rng, worse) for _ in range(320)])
    config = AutoConfig.for_model("gpt2", vocab_size=len(VOCAB), n_positions=32, n_embd=32, n_layer=1, n_head=2, pad_token_id=0,
                                  bos_token_id=1, eos_token_id=1, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = AutoModelForCausalLM.from_config(config)
    training = DPOConfig("out", per_device_train_batch_size=8, max_steps=40, learning_rate=2e-3, beta=0.2, logging_steps=2, save_strategy="no",
                         report_to=[], use_cpu=True, bf16=False, gradient_checkpointing=False, precompute_ref_log_probs=True, seed=args.seed)
    trainer = DPOTrainer(model, args=training, train_dataset=train, processing_class=tokenizer, callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
