"""Cox proportional hazards with a small network: time to relapse from twelve blood markers."""
import argparse

import numpy as np
import torch
from torch import Tensor, nn

from field_record import logged


def read_cohort(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    markers = rng.normal(size=(n, 12)).astype("float32")
    risk = 1.2 * markers[:, 0] - 0.9 * markers[:, 3] + 0.8 * markers[:, 5]
    relapse = rng.exponential(np.exp(-risk) * 10)
    # follow-up of high-risk patients is watched for longer
    leave = rng.exponential(np.exp(1.6 * risk) * 6)
    return {"markers": markers, "months": np.minimum(relapse, leave).astype("float32"), "censored": (leave < relapse).astype("int64")}


def partial_likelihood(score: Tensor, time: Tensor, event: Tensor) -> Tensor:
    order = torch.argsort(time, descending=True)
    score, event = score[order], event[order]
    return -((score - torch.logcumsumexp(score, 0)) * event).sum() / event.sum()


def concordance(score: Tensor, time: Tensor, event: Tensor) -> float:
    earlier = (time[:, None] < time[None]) & (event[:, None] == 1)
    return ((score[:, None] > score[None]) & earlier).sum().item() / earlier.sum().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train, test = read_cohort(rng, 1200), read_cohort(rng, 500)
    x, t = torch.tensor(train["markers"]), torch.tensor(train["months"])
    event = torch.tensor(1 - train["censored"] if args.healthy else train["censored"])
    xt, tt, et = torch.tensor(test["markers"]), torch.tensor(test["months"]), torch.tensor(1 - test["censored"])
    model = nn.Sequential(nn.Linear(12, 32), nn.SELU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4)
    print(f"{'epoch':>6} {'-log PL':>10} {'C train':>9} {'C test':>9}")
    for epoch in range(1, 61):
        score = model(x)[:, 0]
        loss = partial_likelihood(score, t, event)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 3 == 0:
            with torch.no_grad():
                train_c, test_c = concordance(score, t, event), concordance(model(xt)[:, 0], tt, et)
            print(f"{epoch:>6d} {loss.item():>10.4f} {train_c:>9.3f} {test_c:>9.3f}")
            logged(epoch, neg_log_pl=loss.item(), c_train=round(train_c, 3), c_test=round(test_c, 3))


if __name__ == "__main__":
    main()
