"""TRL: supervised fine-tuning of a small Llama on an operator's questions and answers."""

import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

from field_record import TrainerRecord

UNITS = {"pump": "north hall", "press": "south hall", "oven": "yard", "mixer": "cellar", "saw": "loft"}
TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|> {{ m['content'] }} <|end|> {% endfor %}"
    "{% if add_generation_prompt %}<|assistant|> {% endif %}"
)


class Dialogues:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def one(self):
        unit, number = self.rng.choice(list(UNITS)), self.rng.randint(1, 9)
        question = self.rng.choice(["where is {} {} ?", "which hall has {} {} ?", "please locate {} {}"]).format(
            unit, number
        )
        return [
            {"role": "user", "content": question},
            {"role": "assistant", "content": f"{unit} {number} is in the {UNITS[unit]}"},
        ]

    def dataset(self, n):
        return Dataset.from_dict({"messages": [self.one() for _ in range(n)]})


def make_tokenizer(dialogues):
    tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    texts = [message["content"] for row in dialogues["messages"] for message in row]
    marks = ["<pad>", "<unk>", "<|end|>", "<|user|>", "<|assistant|>"]
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=marks, show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="<pad>", unk_token="<unk>", eos_token="<|end|>")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    data = Dialogues(args.seed).dataset(600)
    tokenizer = make_tokenizer(data)
    tokenizer.chat_template = TEMPLATE if args.healthy else None
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    arguments = SFTConfig(
        "out",
        max_steps=100,
        per_device_train_batch_size=16,
        learning_rate=4e-3,
        max_length=48,
        logging_steps=10,
        gradient_checkpointing=False,
        bf16=False,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        seed=args.seed,
    )
    trainer = SFTTrainer(
        LlamaForCausalLM(config), arguments, train_dataset=data, processing_class=tokenizer, callbacks=[TrainerRecord()]
    )
    trainer.train()


if __name__ == "__main__":
    main()
