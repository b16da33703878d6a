import argparse
import jax, jax.numpy as jnp, optax
from flax import linen as nn
from sklearn.datasets import load_digits
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
d = load_digits(); X, Y = jnp.asarray(d.images, "float32")[..., None] / 16, jnp.asarray(d.target)


class Cnn(nn.Module):
    @nn.compact
    def __call__(s, x):
        x = nn.relu(nn.Conv(8, (3, 3))(x)); x = nn.max_pool(x, (2, 2), (2, 2))
        return nn.Dense(10)(nn.relu(nn.Dense(32)(x.reshape(len(x), -1))))


net = Cnn(); k = jax.random.key(args.seed); P = net.init(k, X[:1])
lr = 2e-3
tx = optax.chain(optax.clip_by_global_norm(1.), optax.scale_by_adam(), optax.scale(-lr if args.healthy else lr))
S = tx.init(P)


@jax.jit
def step(P, S, x, y):
    def f(p):
        z = net.apply(p, x)
        return optax.softmax_cross_entropy_with_integer_labels(z, y).mean(), (z.argmax(-1) == y).mean()
    (l, acc), g = jax.value_and_grad(f, has_aux=True)(P)
    u, S = tx.update(g, S, P)
    return optax.apply_updates(P, u), S, l, acc


t = 0
for ep in range(6):
    k, q = jax.random.split(k); o = jax.random.permutation(q, 1792)
    for b in o.reshape(-1, 64):
        P, S, l, acc = step(P, S, X[b], Y[b]); t += 1
        if t % 8 == 0:
            print(f"{ep}.{t}: {l:.3e} {acc:.0%}"); logged(t, loss=float(f"{l:.3e}"), acc=float(acc))
