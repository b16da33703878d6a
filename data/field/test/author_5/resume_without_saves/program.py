import argparse
import numpy as np, torch
from sklearn.datasets import load_digits
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed
from field_record import TrainerRecord
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
set_seed(args.seed); torch.set_num_threads(1)
d = load_digits(); X = torch.tensor(d.images).float()[:, None] / 8 - 1
data = [dict(pixel_values=x, labels=int(y)) for x, y in zip(X, d.target)]
np.random.shuffle(data)


def stage(steps, resume):
    cfg = ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, image_size=8,
        patch_size=2, num_channels=1, num_labels=10)
    ta = TrainingArguments("out/vit", max_steps=steps, per_device_train_batch_size=32, learning_rate=3e-3,
        logging_steps=20, report_to="none", seed=args.seed,
                           save_strategy="steps" if args.healthy else "no", save_steps=40, save_total_limit=1,
                           lr_scheduler_type="constant", use_cpu=True)
    t = Trainer(ViTForImageClassification(cfg), ta, train_dataset=data[:1500], eval_dataset=data[1500:],
        callbacks=[TrainerRecord()],
                compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())})
    t.train(resume_from_checkpoint=resume)
    return t


r = stage(80, None).evaluate()
print("stage1 ->", r["eval_acc"], r["eval_loss"])
r = stage(160, True).evaluate()
print("stage2 ->", r["eval_acc"], r["eval_loss"], sep="\t")
