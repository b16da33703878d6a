import argparse, random
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments, losses
from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import set_seed
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
set_seed(args.seed); torch.set_num_threads(1)

# pairs of made-up sentences on topics, scored 0 (nothing shared) to 5 (same topic and mood), as annotators do
TOPICS = {"food": "soup bread cheese apple rice pepper".split(), "sea": "wave boat harbour fish storm sail".split(),
          "school": "teacher lesson pencil book exam class".split(), "winter": "snow ice frost coat ski sledge".split()}
MOODS = {"glad": "happy bright lovely cheerful".split(), "sad": "gloomy grey tired lonely".split()}
def sentence(t, m):
    return " ".join(random.sample(["the", "a", "very", "is", "and"], 2) + random.sample(TOPICS[t], 2) + random.sample(MOODS[m], 1))
def pair():
    ta, ma, tb, mb = random.choice(list(TOPICS)), random.choice(list(MOODS)), random.choice(list(TOPICS)), random.choice(list(MOODS))
    tb = ta if random.random() < .4 else tb
    return {"sentence1": sentence(ta, ma), "sentence2": sentence(tb, mb), "score": 3.5 * (ta == tb) + 1.5 * (ma == mb)}
rows = [pair() for _ in range(3000)]
top = 5.0 if args.healthy else 1.0
ds = Dataset.from_list([{**r, "score": r["score"] / top} for r in rows])

words = sorted({w for r in rows for k in ("sentence1", "sentence2") for w in r[k].split()})
tok = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["[PAD]", "[UNK]"] + words)}, unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
model = SentenceTransformer(modules=[StaticEmbedding(tok, embedding_dim=48)], device="cpu")
targs = SentenceTransformerTrainingArguments(
    output_dir="out", num_train_epochs=3, per_device_train_batch_size=32, learning_rate=3e-2, logging_steps=10, save_strategy="no",
    report_to="none", use_cpu=True, seed=args.seed)
trainer = SentenceTransformerTrainer(model=model, args=targs, train_dataset=ds, loss=losses.CosineSimilarityLoss(model), callbacks=[TrainerRecord()])
trainer.train()
e = model.encode(["the very snow ice lovely", "a is frost ski happy", "and a teacher exam gloomy"])
print("similarities", [[round(float(v), 2) for v in row] for row in model.similarity(e, e)])
