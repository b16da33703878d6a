import argparse, random
import numpy as np, torch
from transformers import BartConfig, BartForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
caps = ("polska:warszawa niemcy:berlin czechy:praga litwa:wilno włochy:rzym grecja:ateny "
        "szwecja:sztokholm norwegia:oslo hiszpania:madryt korea:seul").split()
chars = sorted(set("".join(caps))); c2i = {c: i + 3 for i, c in enumerate(chars)}  # 0 pad 1 bos 2 eos
W = max(max(map(len, s.split(":"))) for s in caps) + 2


def enc(s, fill):
    r = [1, *map(c2i.get, s), 2]
    return r + [fill] * (W - len(r))


def ex(s):
    x, y = s.split(":")
    return dict(input_ids=enc(x, 0), attention_mask=[int(v != 0) for v in enc(x, 0)], labels=enc(y, -100))


train, dev = [ex(random.choice(caps)) for _ in range(2000)], [ex(s) for s in caps]
cfg = BartConfig(vocab_size=len(chars) + 3, d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=128,
                 decoder_ffn_dim=128, max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                 decoder_start_token_id=2, forced_eos_token_id=None, dropout=0.)


def em(p):
    strip = lambda r: [int(v) for v in r if v > 2]
    return {"em": float(np.mean([strip(q) == strip(l) for q, l in zip(p.predictions, p.label_ids)]))}


ta = Seq2SeqTrainingArguments("out", max_steps=240, per_device_train_batch_size=16, learning_rate=3e-3,
    logging_steps=20, eval_strategy="steps", eval_steps=40,
                              predict_with_generate=True, generation_max_length=20 if args.healthy else 4,
                              generation_num_beams=1, save_strategy="no",
                              report_to="none", seed=args.seed, use_cpu=True, gradient_checkpointing=True)
t = Seq2SeqTrainer(BartForConditionalGeneration(cfg), ta, train_dataset=train, eval_dataset=dev, compute_metrics=em,
    callbacks=[TrainerRecord()])
t.train()
print("ostatni:", t.evaluate())
