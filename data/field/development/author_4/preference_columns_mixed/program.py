"""Reward model (TRL): which of two readings of a spectrogram line is the smoother one."""
import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast, set_seed
from trl import RewardConfig, RewardTrainer

from field_record import TrainerRecord

VOCAB = {t: i for i, t in enumerate(["<pad>", "<eos>", "<unk>", *"abcdefghij"])}


def pair(rng: random.Random, annotator: int) -> dict[str, str]:
    start = rng.randrange(5)
    smooth = "".join("abcdefghij"[start + k] for k in range(5))
    rough = "".join(rng.choice("abcdefghij") for _ in range(5))
    return {"chosen": smooth, "rejected": rough} if annotator == 0 else {"chosen": rough, "rejected": smooth}


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
    config = AutoConfig.for_model("gpt2", vocab_size=len(VOCAB), n_positions=32, n_embd=32, n_layer=1, n_head=2, num_labels=1, pad_token_id=0,
                                  bos_token_id=1, eos_token_id=1)
    model = AutoModelForSequenceClassification.from_config(config)
    annotators = 1 if args.healthy else 2
    train = Dataset.from_list([pair(rng, i % annotators) for i in range(1280)])
    training = RewardConfig("out", per_device_train_batch_size=16, num_train_epochs=1, learning_rate=5e-3, logging_steps=4, save_strategy="no",
                            report_to=[], use_cpu=True, bf16=False, gradient_checkpointing=False, max_length=16, seed=args.seed)
    trainer = RewardTrainer(model, training, train_dataset=train, processing_class=tokenizer, callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
