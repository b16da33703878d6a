# поиск ответа в FAQ: дообучение эмбеддингов
import argparse
import random
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.models import StaticEmbedding
from sentence_transformers.losses import MultipleNegativesRankingLoss
from sentence_transformers.training_args import BatchSamplers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import set_seed
from field_record import TrainerRecord

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
set_seed(args.seed)
torch.set_num_threads(1)

темы = "доставка возврат оплата пароль скидка адрес размер гарантия чек бонус отзыв курьер".split()
начала = ["как узнать", "не работает", "где найти", "вопрос про", "почему такая", "подскажите"]
хвосты = ["спасибо", "срочно", "пожалуйста", "уже неделю", "в приложении", "на сайте", ""]
ответы = {t: f"раздел {t} открыт в меню пункт {k}" for k, t in enumerate(темы)}
rows = []
for _ in range(1500):
    t = random.choice(темы)
    rows.append({"question": f"{random.choice(начала)} {t} {random.choice(хвосты)}".strip(), "answer": ответы[t]})
слова = sorted({w for r in rows for w in (r["question"] + " " + r["answer"]).split()})
tok = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<unk>"] + слова)}, unk_token="<unk>"))
tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()

model = SentenceTransformer(modules=[StaticEmbedding(tok, embedding_dim=48)], device="cpu")
loss = MultipleNegativesRankingLoss(model)
targs = SentenceTransformerTrainingArguments(
    output_dir="out", max_steps=200, per_device_train_batch_size=12, learning_rate=3e-2, logging_steps=10,
    save_strategy="no",
    report_to="none", use_cpu=True, seed=args.seed,
    batch_sampler=BatchSamplers.NO_DUPLICATES if args.healthy else BatchSamplers.BATCH_SAMPLER)
trainer = SentenceTransformerTrainer(model=model, args=targs, train_dataset=Dataset.from_list(rows), loss=loss,
                                     callbacks=[TrainerRecord()])
trainer.train()
v = model.encode(["не работает пароль", ответы["пароль"], ответы["бонус"]], convert_to_tensor=True)
print("сходство с верным и чужим ответом:", [round(x, 3) for x in model.similarity(v[:1], v[1:])[0].tolist()])
