import argparse
import torch
from peft import LoraConfig, get_peft_model
from sklearn.datasets import load_digits
from transformers import ViTConfig, ViTForImageClassification
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
torch.manual_seed(args.seed); torch.set_num_threads(1)
d = load_digits(); X = torch.tensor(d.images).float()[:, None] / 8 - 1; Y = torch.tensor(d.target)
X, Y = X[:1024], Y[:1024]
m = ViTForImageClassification(ViTConfig(hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, image_size=8, patch_size=2, num_channels=1, num_labels=10,
                                        hidden_dropout_prob=0., attention_probs_dropout_prob=0.))
base = list(m.parameters())
lc = LoraConfig(r=8, lora_alpha=16, target_modules=r".*(query|value|q_proj|v_proj|fc1|fc2|dense)",
    modules_to_save=["classifier"])
m = get_peft_model(m, lc); m.print_trainable_parameters()
opt = torch.optim.AdamW([q for q in m.parameters() if q.requires_grad] if args.healthy else base, lr=5e-3,
    weight_decay=0.)
for ep in range(8):
    L = A = 0.
    for i in range(0, 1024, 64):
        o = m(pixel_values=X[i:i + 64], labels=Y[i:i + 64]); o.loss.backward(); opt.step(); opt.zero_grad()
        m.zero_grad()
        L += o.loss.item() / 16; A += (o.logits.argmax(-1) == Y[i:i + 64]).sum().item() / 1024
    print(f"<ep {ep}> {L:.6f} <> {A:.4f}"); logged(ep, loss=round(L, 6), acc=round(A, 4))
