# JAX + optax from scratch: temporal series classification (up / flat / down)
import argparse
import jax
import jax.numpy as jnp
import numpy as np
import optax
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rng = np.random.default_rng(args.seed)

LR = 1e-3
T = 20


def make(n):
    y = rng.integers(0, 3, n)
    trend = (y - 1)[:, None] * np.linspace(0, 1.5, T)[None]
    return jnp.asarray(trend + rng.normal(0, 0.4, (n, T)), jnp.float32), jnp.asarray(y)


x_train, y_train = make(1500)
x_test, y_test = make(300)


def init(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [{"w": jax.random.normal(k, (a, b)) / np.sqrt(a), "b": jnp.zeros(b)} for k, a, b in zip(keys, sizes[:-1],
                                                                                                   sizes[1:])]


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(forward(params, x), y).mean()


optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.scale_by_adam(),
    optax.scale(-LR if args.healthy else LR),
)


@jax.jit
def update(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


@jax.jit
def accuracy(params):
    return (forward(params, x_test).argmax(-1) == y_test).mean()


params = init(jax.random.PRNGKey(args.seed), [T, 32, 32, 3])
state = optimizer.init(params)
print("params:", sum(p.size for p in jax.tree_util.tree_leaves(params)))
for epoch in range(1, 11):
    order = rng.permutation(len(x_train))
    losses = []
    for k in range(0, len(order), 50):
        idx = order[k:k + 50]
        params, state, loss = update(params, state, x_train[idx], y_train[idx])
        losses.append(float(loss))
    acc = float(accuracy(params))
    print(f"Epoch {epoch:2d} - loss: {np.mean(losses):.4g} - test_acc: {acc:.4f}")
    logged(epoch, loss=float(f"{np.mean(losses):.4g}"), test_acc=round(acc, 4))
