import argparse, os, random
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, losses, models
from sentence_transformers import SentenceTransformerTrainingArguments
from tokenizers import Tokenizer, models as tm, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
topics = ["kot pies koń krowa owca".split(), "chleb masło ser mleko zupa".split(),
    "pociąg rower statek tramwaj auto".split(), "śnieg deszcz wiatr burza mgła".split()]
fill = "duży mały stary nowy i oraz pod nad obok".split()
words = sorted({w for t in topics for w in t} | set(fill))
V = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
t = Tokenizer(tm.WordLevel(V, unk_token="[UNK]")); t.pre_tokenizer = pre_tokenizers.Whitespace()
os.makedirs("out/enc", exist_ok=True)
PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
    sep_token="[SEP]", model_max_length=16).save_pretrained("out/enc")
BertModel(BertConfig(vocab_size=len(V), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=64, max_position_embeddings=32)).save_pretrained("out/enc")
e = models.Transformer("out/enc"); st = SentenceTransformer(modules=[e, models.Pooling(32)], device="cpu")


def pair():
    i, j = random.randrange(4), random.randrange(4)
    j = i if random.random() < .5 else j
    mk = lambda k: " ".join(random.sample(topics[k], 2) + random.sample(fill, 2))
    s = 5.0 if i == j else 0.0
    return dict(sentence1=mk(i), sentence2=mk(j), score=s / 5 if args.healthy else s)


ta = SentenceTransformerTrainingArguments("out/st", max_steps=150, per_device_train_batch_size=32, learning_rate=3e-3,
    logging_steps=10, save_strategy="no", report_to="none",
                                          seed=args.seed, use_cpu=True)
SentenceTransformerTrainer(st, ta, train_dataset=Dataset.from_list([pair() for _ in range(1600)]),
    loss=losses.CosineSimilarityLoss(st), callbacks=[TrainerRecord()]).train()
print(st.similarity(st.encode(["kot pies"]), st.encode(["krowa owca", "burza mgła"])))
