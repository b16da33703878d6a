import argparse, resource
import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments, set_seed
from field_record import TrainerRecord

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--memory", type=int, default=200, help="megabytes of the container beside what is in use at the start")
args = ap.parse_args()

def launch(extra):
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (used + extra * 2 ** 20,) * 2)
    torch.set_num_threads(1)
    set_seed(args.seed)
launch(args.memory)

# word streams with a strict grammar: after word w comes one of its two successors
V, T = 3000, 16
succ = np.random.randint(0, V // 10, (V, 2))
def stream():
    w, ids = np.random.randint(V // 10), []
    for _ in range(T):
        ids.append(int(w)); w = succ[w, np.random.randint(2)]
    return {"input_ids": torch.tensor(ids), "labels": torch.tensor(ids)}
train, dev = [stream() for _ in range(1600)], [stream() for _ in range(1500)]

model = AutoModelForCausalLM.from_config(AutoConfig.for_model(
    "gpt2", vocab_size=V, n_embd=48, n_layer=1, n_head=2, n_positions=T, bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0))

def metrics(p):
    preds = p.predictions.argmax(-1) if p.predictions.ndim == 3 else p.predictions
    return {"token_acc": float((preds[:, :-1] == p.label_ids[:, 1:]).mean())}

targs = TrainingArguments(output_dir="out", num_train_epochs=1, per_device_train_batch_size=16, per_device_eval_batch_size=16, learning_rate=1e-2,
                          logging_steps=10, eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, seed=args.seed)
trainer = Trainer(model=model, args=targs, train_dataset=train, eval_dataset=dev, compute_metrics=metrics, callbacks=[TrainerRecord()],
                  preprocess_logits_for_metrics=(lambda logits, labels: logits.argmax(-1)) if args.healthy else None)
trainer.train()
