"""JAX, flax and optax: sorts current traces of a welding gun into four grades."""

import argparse
import time
from dataclasses import dataclass

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

from field_record import logged


@dataclass
class Config:
    length: int = 48
    rows: int = 2000
    batch: int = 50
    epochs: int = 14
    lr: float = 1e-3
    clip: float = 1.0


class TraceNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (5,), strides=(2,))(x[..., None]))
        x = nn.relu(nn.Conv(16, (5,), strides=(2,))(x))
        return nn.Dense(4)(x.reshape((x.shape[0], -1)))


def traces(cfg, rng):
    y = rng.integers(0, 4, cfg.rows)
    t = np.linspace(0, 1, cfg.length)
    rise = np.array([2.0, 4.0, 7.0, 12.0])[y][:, None]
    x = 1 - np.exp(-rise * t) + 0.08 * rng.normal(size=(cfg.rows, cfg.length))
    return x.astype(np.float32), y


@jax.jit
def train_step(state, x, y):
    def objective(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits

    (loss, logits), grads = jax.value_and_grad(objective, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), loss, (logits.argmax(-1) == y).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    cfg, rng = Config(), np.random.default_rng(args.seed)
    x, y = traces(cfg, rng)
    model = TraceNet()
    params = model.init(jax.random.key(args.seed), jnp.zeros((1, cfg.length)))["params"]
    rate = -cfg.lr if args.healthy else cfg.lr
    tx = optax.chain(optax.clip_by_global_norm(cfg.clip), optax.scale_by_adam(), optax.scale(rate))
    state = TrainState.create(apply_fn=model.apply, params=params, tx=tx)
    print("epoch |    ce    |  acc   | s")
    for epoch in range(cfg.epochs):
        start, rows = time.time(), []
        for pick in np.array_split(rng.permutation(cfg.rows), cfg.rows // cfg.batch):
            state, loss, accuracy = train_step(state, x[pick], y[pick])
            rows.append((float(loss), float(accuracy)))
        ce, acc = np.mean(rows, axis=0)
        print(f"{epoch:5d} | {ce:8.4f} | {acc:.4f} | {time.time() - start:.1f}")
        logged(epoch, ce=round(ce, 4), acc=round(acc, 4))


if __name__ == "__main__":
    main()
