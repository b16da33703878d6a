import argparse, random
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from torch.utils.data import DataLoader
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--block", type=int, default=24)
args = ap.parse_args()
random.seed(args.seed); torch.manual_seed(args.seed); torch.set_num_threads(1)

# pieniä tarinoita
WHO, DID, WHERE = "Aino Eero Helmi Onni Sisu".split(), "istui luki lauloi kirjoitti odotti".split(), "pihalla koulussa saunassa torilla metsässä".split()
def story():
    return " ".join(f"{random.choice(WHO)} {random.choice(DID)} {random.choice(WHERE)} ." for _ in range(random.randint(3, 14)))
ds = Dataset.from_dict({"id": list(range(700)), "text": [story() for _ in range(700)]})
tok = Tokenizer(models.BPE(unk_token="<unk>"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(ds["text"], trainers.BpeTrainer(vocab_size=90, special_tokens=["<unk>"], show_progress=False))

def chunk(batch):
    ids = [t for text in batch["text"] for t in tok.encode(text).ids]
    n = len(ids) // args.block * args.block
    return {"input_ids": [ids[i:i + args.block] for i in range(0, n, args.block)]}

print(ds)
blocks = ds.map(chunk, batched=True, batch_size=100, remove_columns=ds.column_names if args.healthy else None)
print(blocks)
blocks.set_format("torch", columns=["input_ids"])

class LM(nn.Module):
    def __init__(self, v, d=48):
        super().__init__()
        self.e, self.r, self.o = nn.Embedding(v, d), nn.GRU(d, d, batch_first=True), nn.Linear(d, v)
    def forward(self, x):
        return self.o(self.r(self.e(x))[0])
net = LM(tok.get_vocab_size()); opt = torch.optim.Adam(net.parameters(), 4e-3)
for epoch in range(1, 4):
    for i, b in enumerate(DataLoader(blocks, 16, shuffle=True), 1):
        x = b["input_ids"]
        loss = nn.functional.cross_entropy(net(x[:, :-1]).transpose(1, 2), x[:, 1:])
        opt.zero_grad(); loss.backward(); opt.step()
        if i % 20 == 0:
            print(f"epookki {epoch}, erä {i}: häviö {loss.item():.3f}".replace(".", ","))
            logged(epoch * 1000 + i, häviö=round(loss.item(), 3))
