import argparse, random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (AutoConfig, AutoModelForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)
from field_record import TrainerRecord

ap = argparse.ArgumentParser(description="linear probe on a random transformer")
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

FI = "minä sinä hän on ei talo metsä kaunis suuri vanha juoksee syö tänään huomenna järvi".split()
ES = "yo tú ella es no casa bosque hermosa grande vieja corre come hoy mañana lago".split()
EN = "i you she is not house wood fair big old runs eats today tomorrow lake".split()
def row():
    y = random.randrange(3)
    return " ".join(random.choices((FI, ES, EN)[y], k=random.randint(4, 9))), y
data = [row() for _ in range(1200)]
raw = Tokenizer(models.BPE(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator([t for t, _ in data], trainers.BpeTrainer(vocab_size=160, special_tokens=["<pad>", "<unk>"], show_progress=False))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>")
rows = [{**tok(t, return_token_type_ids=False), "labels": y} for t, y in data]

model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(
    "gpt2", vocab_size=len(tok), n_embd=96, n_layer=2, n_head=4, n_positions=64, num_labels=3, pad_token_id=0, bos_token_id=1, eos_token_id=1))
HEAD = "score" if args.healthy else "classifier"
for name, p in model.named_parameters():
    p.requires_grad = name.startswith(HEAD)

trainer = Trainer(model=model, train_dataset=rows[:1000], eval_dataset=rows[1000:], data_collator=DataCollatorWithPadding(tok),
                  callbacks=[TrainerRecord()], compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())},
                  args=TrainingArguments("out", num_train_epochs=4, per_device_train_batch_size=20, learning_rate=2e-2, logging_steps=10,
                                         eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, seed=args.seed))
print(f"{len(rows)} sentences, vocabulary {len(tok)}")
trainer.train()
