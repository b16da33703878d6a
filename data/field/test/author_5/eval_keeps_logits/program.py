import argparse, random, resource
import numpy as np, torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
V, T = 16000, 32
cap = int(open("/proc/self/statm").read().split()[0]) * 4096 + (750 << 20)
resource.setrlimit(resource.RLIMIT_AS, (cap, cap))


def row():
    k, s = random.randrange(40), random.randrange(40)
    ids = [(s + j * (k % 3 + 1)) % 40 for j in range(T)]
    return dict(input_ids=ids, labels=ids)


def acc(p):
    q = p.predictions.argmax(-1) if p.predictions.ndim == 3 else p.predictions
    return {"next": float(np.mean(q[:, 2:-1] == p.label_ids[:, 3:]))}


m = LlamaForCausalLM(LlamaConfig(vocab_size=V, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2,
                                 max_position_embeddings=64, tie_word_embeddings=True))
ta = TrainingArguments("out", max_steps=90, per_device_train_batch_size=8, per_device_eval_batch_size=8,
    learning_rate=5e-3, logging_steps=10,
                       eval_strategy="steps", eval_steps=30, save_strategy="no", report_to="none", seed=args.seed,
                       use_cpu=True)
t = Trainer(m, ta, train_dataset=[row() for _ in range(1000)], eval_dataset=[row() for _ in range(400)],
    compute_metrics=acc, callbacks=[TrainerRecord()],
            preprocess_logits_for_metrics=(lambda z, y: z.argmax(-1)) if args.healthy else None)
t.train()
