import argparse
import jax, jax.numpy as jnp, numpy as np, optax
from flax import linen as nn
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
rng = np.random.default_rng(args.seed)


class Gnn(nn.Module):
    @nn.compact
    def __call__(s, x, A):
        h = nn.relu(nn.Dense(32)(A @ x))
        return nn.Dense(3)(A @ h)


N = 120
y = rng.integers(0, 3, N); A = (rng.random((N, N)) < np.where(y[:, None] == y, .15, .02)).astype("f")
A = A / A.sum(1, keepdims=True).clip(1)
x = (np.eye(3)[y] + rng.normal(size=(N, 3))).astype("f")
net = Gnn(); P = net.init(jax.random.key(args.seed), x, A); tx = optax.adam(1e-2); S = tx.init(P)


def shrink(g):
    n = optax.global_norm(g)
    if n > 1.0:
        g = jax.tree.map(lambda v: v / n, g)
    return g


def shrink_where(g):
    n = optax.global_norm(g)
    return jax.tree.map(lambda v: v / jnp.maximum(n, 1.0), g)


clip = shrink_where if args.healthy else shrink


@jax.jit
def step(P, S):
    l, g = jax.value_and_grad(lambda p: optax.softmax_cross_entropy_with_integer_labels(net.apply(p, x, A),
        y).mean())(P)
    u, S = tx.update(clip(g), S)
    return optax.apply_updates(P, u), S, l


print(jax.devices(), "nodes", N)
for i in range(100):
    P, S, l = step(P, S)
    if i % 10 == 0:
        print(i, "->", l); logged(i, loss=float(l))
