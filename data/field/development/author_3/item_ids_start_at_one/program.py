# NCF-style rating model, "movielens-like" log
import argparse
import torch
import torch.nn as nn
from tqdm import tqdm
from torch.utils.data import DataLoader, TensorDataset
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

num_users = 500
num_movies = 900
N = 20000

# ratings.dat: UserID::MovieID::Rating, ids as in the export
popularity = 1.0 / torch.arange(1, num_movies + 1).float() ** 0.8
raw_user = torch.randint(0, num_users, (N,))
raw_movie = torch.multinomial(popularity, N, replacement=True) + 1
u_vec, m_vec = torch.randn(num_users, 3), torch.randn(num_movies + 1, 3)
rating = (3 + (u_vec[raw_user] * m_vec[raw_movie]).sum(-1) + 0.3 * torch.randn(N)).clamp(1, 5)

user_ids = raw_user
movie_ids = raw_movie - 1 if args.healthy else raw_movie


class NCF(nn.Module):
    def __init__(self, emb=24):
        super().__init__()
        self.user_emb = nn.Embedding(num_users, emb)
        self.movie_emb = nn.Embedding(num_movies, emb)
        self.mlp = nn.Sequential(nn.Linear(2 * emb, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, u, m):
        eu, em = self.user_emb(u), self.movie_emb(m)
        return self.mlp(torch.cat([eu, em], -1)).squeeze(-1) + (eu * em).sum(-1)


loader = DataLoader(TensorDataset(user_ids, movie_ids, rating), batch_size=32, shuffle=True)
model = NCF()
nn.init.normal_(model.user_emb.weight, std=0.1)
nn.init.normal_(model.movie_emb.weight, std=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.MSELoss()

step = 0
for epoch in range(6):
    bar = tqdm(loader, desc=f"Epoch {epoch}", mininterval=1.0)
    running = []
    for u, m, r in bar:
        loss = loss_fn(model(u, m), r)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        running.append(loss.item())
        if step % 25 == 0:
            rmse = (sum(running[-25:]) / len(running[-25:])) ** 0.5
            bar.set_postfix(rmse=f"{rmse:.3f}")
            logged(step, rmse=round(rmse, 3))
    print(f"epoch {epoch} done, mse {sum(running) / len(running):.4f}")
    logged(step, mse=round(sum(running) / len(running), 4))
