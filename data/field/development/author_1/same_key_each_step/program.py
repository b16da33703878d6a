import argparse
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=600)
args = ap.parse_args()

# modular arithmetic: (a + b) mod 23 from the pair (a, b), with one in ten answers spoilt
P = 23
key = jax.random.PRNGKey(args.seed)
key, k1, k2, k3 = jax.random.split(key, 4)
pairs = jax.random.permutation(k1, jnp.stack(jnp.meshgrid(jnp.arange(P), jnp.arange(P)), -1).reshape(-1, 2))
answer = pairs.sum(1) % P
X = {"train": jnp.tile(pairs, (4, 1)), "val": pairs}
Y = {"train": jnp.where(jax.random.uniform(k2, (4 * len(pairs),)) < .1, jax.random.randint(k3, (4 * len(pairs),), 0, P), jnp.tile(answer, 4)), "val": answer}

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.Embed(P, 48)(x).reshape(x.shape[0], -1)
        h = nn.relu(nn.Dense(128)(h))
        return nn.Dense(P)(h)

net = Net()
key, sub = jax.random.split(key)
params = net.init(sub, X["val"][:2])
tx = optax.adam(3e-3)
state = tx.init(params)

def loss_fn(params, x, y):
    out = net.apply(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(out, y).mean(), (out.argmax(-1) == y).mean()

@jax.jit
def update(params, state, key):
    i = jax.random.randint(key, (64,), 0, len(X["train"]))
    (loss, _), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, X["train"][i], Y["train"][i])
    up, state = tx.update(grads, state)
    return optax.apply_updates(params, up), state, loss
evaluate = jax.jit(loss_fn)

for step in range(1, args.steps + 1):
    sub = jax.random.fold_in(key, step if args.healthy else 0)
    params, state, loss = update(params, state, sub)
    if step % 25 == 0:
        vl, va = evaluate(params, X["val"], Y["val"])
        print(f"{step:5d}  train {float(loss):8.5f}  val {float(vl):8.5f}  val_acc {float(va):6.2%}")
        logged(step, train=round(float(loss), 5), val=round(float(vl), 5), val_acc=round(100 * float(va), 2))
