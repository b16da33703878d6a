import argparse, random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import DistilBertConfig, DistilBertForSequenceClassification, PreTrainedTokenizerFast
from transformers import Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
who = "나는 친구는 동생은 우리는 선생님은".split()
when = "어제 오늘 지난주에 아침에 저녁에".split()
where = "집에서 학교에서 시장에서 서울에서 부산에서".split()
what = "영화를 음식을 노래를 책을 그림을".split()
how = "정말 조금 아주 다시 혼자".split()
pos, neg = "좋아했다 즐겼다 칭찬했다 사랑했다".split(), "싫어했다 미워했다 버렸다 욕했다".split()


def sent():
    y = random.randint(0, 1)
    return " ".join([random.choice(q) for q in (who, when, where, how, what,
        how)] + [random.choice(pos if y else neg)]), y


words = sorted({*who, *when, *where, *what, *how, *pos, *neg})
t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["[PAD]", "[UNK]"] + words)}, unk_token="[UNK]"))
t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]")
L = 16 if args.healthy else 6


def build(n):
    s, y = zip(*(sent() for _ in range(n)))
    e = tok(list(s), truncation=True, padding="max_length", max_length=L)
    return [dict(input_ids=i, attention_mask=m, labels=k) for i, m, k in zip(e["input_ids"], e["attention_mask"], y)]


train, dev = build(1500), build(300)
m = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=len(words) + 2, dim=32, n_layers=1, n_heads=2,
    hidden_dim=64, max_position_embeddings=32))
ta = TrainingArguments("out", num_train_epochs=6, per_device_train_batch_size=32, learning_rate=1e-3,
    logging_steps=20, eval_strategy="epoch", save_strategy="no",
                       report_to="none", seed=args.seed, use_cpu=True, disable_tqdm=True)
Trainer(m, ta, train_dataset=train, eval_dataset=dev, callbacks=[TrainerRecord()],
        compute_metrics=lambda p: {"정확도": float((p.predictions.argmax(-1) == p.label_ids).mean())}).train()
