import argparse
import torch
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)


def bars(n):
    out = []
    for _ in range(n):
        y = int(torch.randint(0, 4, ())); im = torch.randn(1, 12, 12) * .25; k = int(torch.randint(1, 10, ()))
        if y == 0: im[0, k] += 1
        if y == 1: im[0, :, k] += 1
        if y == 2: im[0].diagonal(k - 5).add_(1)
        if y == 3: im[0].flip(1).diagonal(k - 5).add_(1)
        out.append(dict(pixel_values=im, labels=y))
    return out


cfg = ViTConfig(hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=12,
    patch_size=3, num_channels=1, num_labels=4)
targs = TrainingArguments("out", num_train_epochs=6, per_device_train_batch_size=32, per_device_eval_batch_size=100,
    learning_rate=2e-3, logging_steps=25,
                          warmup_steps=30 if args.healthy else 100_000, eval_strategy="epoch", save_strategy="no",
                          report_to="none", seed=args.seed, use_cpu=True)
tr = Trainer(ViTForImageClassification(cfg), targs, train_dataset=bars(1600), eval_dataset=bars(400),
    callbacks=[TrainerRecord()],
             compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())})
res = tr.train()
print(res.metrics)
