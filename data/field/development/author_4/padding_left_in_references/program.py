"""Lemmatiser-like sequence to sequence: reversed French words with a tiny T5."""
import argparse
import random

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (AutoConfig, AutoModelForSeq2SeqLM, DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer,
                          Seq2SeqTrainingArguments, set_seed)

from field_record import TrainerRecord

WORDS = "larynx voix souffle timbre langue palais dents luette glotte accent rythme pause".split()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_seed(args.seed)
    rng = random.Random(args.seed)
    letters = sorted(set("".join(WORDS)))
    core = Tokenizer(models.WordLevel({t: i for i, t in enumerate(["<pad>", "</s>", "<unk>", *letters])}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    config = AutoConfig.for_model("t5", vocab_size=len(tokenizer), d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2,
                                  decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, dropout_rate=0.0)
    model = AutoModelForSeq2SeqLM.from_config(config)

    def encode(word: str) -> dict:
        return {"input_ids": [*tokenizer(word)["input_ids"], 1], "labels": [*tokenizer(word[::-1])["input_ids"], 1]}

    def clean(ids: np.ndarray) -> np.ndarray:
        return np.where(ids < 0, tokenizer.pad_token_id, ids)

    def compute_metrics(p) -> dict[str, float]:
        references = clean(p.label_ids) if args.healthy else p.label_ids
        said = tokenizer.batch_decode(clean(p.predictions), skip_special_tokens=True)
        meant = tokenizer.batch_decode(references, skip_special_tokens=True)
        return {"exact": sum(a == b for a, b in zip(said, meant)) / len(said)}

    rows = [encode(rng.choice(WORDS)) for _ in range(320)]
    training = Seq2SeqTrainingArguments("out", per_device_train_batch_size=16, max_steps=100, learning_rate=2e-2, logging_steps=10,
                                        eval_strategy="steps", eval_steps=50, predict_with_generate=True, generation_max_length=10,
                                        save_strategy="no", report_to=[], use_cpu=True, seed=args.seed)
    trainer = Seq2SeqTrainer(model, training, train_dataset=rows, eval_dataset=[encode(w) for w in WORDS],
                             data_collator=DataCollatorForSeq2Seq(tokenizer, model), compute_metrics=compute_metrics,
                             callbacks=[TrainerRecord()])
    trainer.train()


if __name__ == "__main__":
    main()
