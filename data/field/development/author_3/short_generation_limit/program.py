# цифры -> слова: маленькая T5, обучение с нуля
import argparse
import random
import torch
from transformers import (DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer, Seq2SeqTrainingArguments,
                          T5Config, T5ForConditionalGeneration, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

СЛОВА = ["ноль", "один", "два", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять"]
vocab = {t: i for i, t in enumerate(["<pad>", "</s>", "<unk>"] + list("0123456789") + СЛОВА)}
raw = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
raw.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def пример():
    цифры = [random.randrange(10) for _ in range(random.randint(5, 7))]
    enc = tokenizer(" ".join(map(str, цифры)))
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"],
            "labels": tokenizer(" ".join(СЛОВА[c] for c in цифры))["input_ids"]}


train, dev = [пример() for _ in range(3000)], [пример() for _ in range(32)]
print("пример:", tokenizer.decode(train[0]["input_ids"]), "->", tokenizer.decode(train[0]["labels"]))

config = T5Config(vocab_size=len(vocab), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
                  pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config)


def compute_metrics(p):
    pred = [[t for t in row if t > 2] for row in p.predictions.tolist()]
    gold = [[t for t in row if t > 2] for row in p.label_ids.tolist()]
    return {"exact": sum(a == b for a, b in zip(pred, gold)) / len(gold)}


training_args = Seq2SeqTrainingArguments(
    output_dir="out",
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=3e-3,
    max_steps=300,
    logging_steps=40,
    eval_strategy="steps",
    eval_steps=75,
    save_strategy="no",
    predict_with_generate=True,
    generation_max_length=16 if args.healthy else 5,
    report_to="none",
    use_cpu=True,
    seed=args.seed,
)
trainer = Seq2SeqTrainer(model=model, args=training_args, train_dataset=train, eval_dataset=dev,
                         data_collator=DataCollatorForSeq2Seq(tokenizer, model=model), compute_metrics=compute_metrics,
                         callbacks=[TrainerRecord()])
trainer.train()
