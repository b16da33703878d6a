import argparse
import random
import sys

sys.modules["torchvision"] = None  # text only

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorForLanguageModeling, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.set_num_threads(1)
set_seed(args.seed)
rng = random.Random(args.seed)

FEM = ["la boulangère", "la voisine", "la directrice", "une étudiante"]
MASC = ["le facteur", "le jardinier", "un marin", "le voisin"]
ACTIONS = {"prépare": ["une soupe aux poireaux", "le dîner de dimanche"], "répare": ["le vieux vélo", "la porte du garage"],
           "attend": ["le train de midi", "la pluie avec patience"], "vend": ["des fleurs au marché", "sa maison de campagne"]}
ADJ = {"f": ["heureuse", "fatiguée", "inquiète"], "m": ["heureux", "fatigué", "inquiet"]}


def phrase():
    gender = rng.choice("fm")
    verb = rng.choice(list(ACTIONS))
    who = rng.choice(FEM if gender == "f" else MASC)
    pronoun = "elle" if gender == "f" else "il"
    return f"{who} {verb} {rng.choice(ACTIONS[verb])} et {pronoun} est {rng.choice(ADJ[gender])} ."


texts = [phrase() for _ in range(1600)]
raw = Tokenizer(models.BPE(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Metaspace()
raw.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=200, special_tokens=["<pad>", "<unk>", "<s>", "</s>"],
                                                   show_progress=False))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", bos_token="<s>",
                                    eos_token="</s>")
data = Dataset.from_dict({"text": texts}).map(lambda row: tokenizer("<s>" + row["text"] + "</s>"), remove_columns="text")
data = data.train_test_split(test_size=160, seed=args.seed)

model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), hidden_size=64, intermediate_size=160,
                                     num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                                     max_position_embeddings=64, use_cache=False, pad_token_id=0, bos_token_id=2,
                                     eos_token_id=3))
training = TrainingArguments(
    output_dir="out", per_device_train_batch_size=24, num_train_epochs=2, learning_rate=4e-3, warmup_steps=10,
    lr_scheduler_type="cosine", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": False},
    logging_steps=5, eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, seed=args.seed)
trainer = Trainer(model=model, args=training, train_dataset=data["train"], eval_dataset=data["test"],
                  processing_class=tokenizer, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
                  callbacks=[TrainerRecord()])
trainer.train()
print("gradient checkpointing:", model.is_gradient_checkpointing)
