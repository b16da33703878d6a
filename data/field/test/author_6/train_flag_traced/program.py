"""Build times from the size of a change."""
import argparse

import jax
import jax.numpy as jnp
import optax

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
key = jax.random.PRNGKey(args.seed)
k1, k2, k3 = jax.random.split(key, 3)
params = {"w1": jax.random.normal(k1, (5, 64)) * 0.4, "b1": jnp.zeros(64), "w2": jax.random.normal(k2, (64, 1)) * 0.1}
x = jax.random.uniform(k3, (2000, 5))
y = 3 * x[:, 0] + 2 * x[:, 1] * x[:, 2] - x[:, 4]
opt = optax.adam(1e-2)
state = opt.init(params)


def mse(params, x, y, key, train):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    if train:
        h = h * jax.random.bernoulli(key, 0.9, h.shape) / 0.9
    return jnp.mean(((h @ params["w2"])[:, 0] - y) ** 2)


loss_and_grad = jax.jit(jax.value_and_grad(mse), static_argnames=("train",) if args.healthy else ())
print("step\ttrain_mse\tmse")
for i in range(300):
    k = jax.random.fold_in(key, i)
    rows = jax.random.randint(k, (64,), 0, 1800)
    loss, grads = loss_and_grad(params, x[rows], y[rows], k, train=True)
    updates, state = opt.update(grads, state)
    params = optax.apply_updates(params, updates)
    if i % 20 == 0:
        held, _ = loss_and_grad(params, x[1800:], y[1800:], k, train=False)
        print(f"{i}\t{loss:.4f}\t{held:.4f}")
        logged(i, train_mse=round(float(loss), 4), mse=round(float(held), 4))
