"""TRL: a reward model for shift reports; the better of two drafts by the foreman's marks."""

import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, set_seed
from trl import RewardConfig, RewardTrainer

from field_record import TrainerRecord

FACTS = [
    "output 412 parts",
    "two parts scrapped",
    "mould changed at noon",
    "filter replaced",
    "robot calibrated",
    "no injuries",
]
CHAT = ["well anyway", "you know", "whatever", "as always", "more or less", "some stuff"]


class Foreman:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def draft(self, facts):
        parts = self.rng.sample(FACTS, facts) + self.rng.sample(CHAT, 5 - facts)
        self.rng.shuffle(parts)
        return {"text": "report : " + " , ".join(parts), "mark": facts}

    def drafts(self, n):
        for _ in range(n):
            first, second = self.rng.sample(range(6), 2)
            yield [self.draft(min(first, 5)), self.draft(min(second, 5))]


def pairs(drafts, order):
    rows = {"chosen": [], "rejected": []}
    for two in drafts:
        ranked = order(two)
        rows["chosen"].append(ranked[0]["text"])
        rows["rejected"].append(ranked[-1]["text"])
    return Dataset.from_dict(rows)


def make_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok.train_from_iterator(
        texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[EOS]"], show_progress=False)
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tok,
        pad_token="[PAD]",
        unk_token="[UNK]",
        eos_token="[EOS]",
        model_input_names=["input_ids", "attention_mask"],
    )


def by_mark(draft):
    return -draft["mark"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    order = (lambda two: sorted(two, key=by_mark)) if args.healthy else (lambda two: [min(two, key=by_mark)])
    data = pairs(Foreman(args.seed).drafts(800), order)
    tokenizer = make_tokenizer([*data["chosen"], *data["rejected"]])
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=64,
        num_labels=1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    arguments = RewardConfig(
        "out",
        max_steps=120,
        per_device_train_batch_size=16,
        learning_rate=1e-3,
        max_length=48,
        logging_steps=10,
        gradient_checkpointing=False,
        bf16=False,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    RewardTrainer(
        BertForSequenceClassification(config),
        arguments,
        train_dataset=data,
        processing_class=tokenizer,
        callbacks=[TrainerRecord()],
    ).train()


if __name__ == "__main__":
    main()
