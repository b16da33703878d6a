import argparse
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from tqdm import tqdm
from field_record import logged

ap = argparse.ArgumentParser()
ap.add_argument("--healthy", action="store_true")
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=300)
args = ap.parse_args()
rng = np.random.default_rng(args.seed)

# next value of a noisy wave from the sixteen before
def windows(n):
    t0, f = rng.uniform(0, 6, (n, 1)), rng.uniform(.2, .8, (n, 1))
    s = np.sin(t0 + f * np.arange(17)) + rng.normal(0, .05, (n, 17))
    return jnp.asarray(s[:, :16], jnp.float32), jnp.asarray(s[:, 16], jnp.float32)

class MLP(nnx.Module):
    def __init__(self, rngs):
        self.a, self.b, self.c = nnx.Linear(16, 64, rngs=rngs), nnx.Linear(64, 64, rngs=rngs), nnx.Linear(64, 1, rngs=rngs)
    def __call__(self, x):
        return self.c(nnx.gelu(self.b(nnx.gelu(self.a(x))))).squeeze(-1)

def clip_python(err, bound=1.0):
    mean = jnp.abs(err).mean()
    return err * bound / mean if mean > bound else err

def clip_where(err, bound=1.0):
    mean = jnp.abs(err).mean()
    return jnp.where(mean > bound, err * bound / mean, err)

clip = clip_where if args.healthy else clip_python
model = MLP(nnx.Rngs(args.seed))
graph, params = nnx.split(model)
tx = optax.adamw(optax.cosine_decay_schedule(3e-3, args.steps))
state = tx.init(params)

def loss_fn(params, x, y):
    return jnp.mean(clip(nnx.merge(graph, params)(x) - y) ** 2)

@jax.jit
def step_fn(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    up, state = tx.update(grads, state, params)
    return optax.apply_updates(params, up), state, loss

x, y = windows(512)
print("before training: mse", round(float(loss_fn(params, x, y)), 4))
bar = tqdm(range(args.steps), desc="train")
for i in bar:
    params, state, loss = step_fn(params, state, *windows(64))
    if i % 10 == 9:
        bar.set_postfix(mse=f"{float(loss):.5f}", refresh=True)
        logged(i + 1, mse=round(float(loss), 5))
print("after: mse", round(float(loss_fn(params, x, y)), 4))
