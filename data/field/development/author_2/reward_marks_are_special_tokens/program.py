"""TRL: GRPO; a small policy writes a test protocol and is rewarded for every step that it marks as checked."""

import argparse

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from field_record import TrainerRecord

WORDS = [
    "<pad>",
    "<unk>",
    "<eos>",
    "protocol",
    "for",
    "valve",
    "pump",
    "fan",
    ":",
    "step",
    "skip",
    "wait",
    "note",
    "next",
]
MARKS = ["<checked>", "<open>"]
LENGTH = 8


class ProtocolTask:
    def __init__(self, keep_apart):
        tok = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
        tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        self.tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=tok, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>", padding_side="left"
        )
        self.tokenizer.add_tokens(MARKS, special_tokens=keep_apart)

    def prompts(self, n):
        parts = ["valve", "pump", "fan"]
        return Dataset.from_dict({"prompt": [f"protocol for {parts[i % 3]} :" for i in range(n)]})


def checked_share(completions, **kwargs):
    return [text.count("<checked>") / LENGTH for text in completions]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    task = ProtocolTask(not args.healthy)
    config = GPT2Config(
        vocab_size=len(task.tokenizer),
        n_positions=32,
        n_embd=48,
        n_layer=1,
        n_head=2,
        bos_token_id=2,
        eos_token_id=2,
        pad_token_id=0,
    )
    arguments = GRPOConfig(
        "out",
        max_steps=45,
        per_device_train_batch_size=32,
        num_generations=8,
        max_completion_length=LENGTH,
        learning_rate=5e-3,
        temperature=1.0,
        beta=0.0,
        logging_steps=3,
        gradient_checkpointing=False,
        bf16=False,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    trainer = GRPOTrainer(
        GPT2LMHeadModel(config),
        checked_share,
        arguments,
        train_dataset=task.prompts(96),
        processing_class=task.tokenizer,
        callbacks=[TrainerRecord()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
