"""Only the last layer is tuned; the first one is a fixed random projection."""
import argparse
import json

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
cfg = {"tuned": "Dense_1" if args.healthy else "head", "width": 256, "lr": 0.02, "steps": 300}


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(cfg["width"])(x)))[:, 0]


key = jax.random.PRNGKey(args.seed)
net = Net()
params = net.init(key, jnp.zeros((1, 8)))["params"]
labels = {name: jax.tree_util.tree_map(lambda _: "tuned" if name == cfg["tuned"] else "frozen", part)
          for name, part in params.items()}
opt = optax.multi_transform({"tuned": optax.adam(cfg["lr"]), "frozen": optax.set_to_zero()}, labels)
state = opt.init(params)


@jax.jit
def step(params, state, key):
    x = jax.random.normal(key, (128, 8))
    y = (x[:, 0] + jnp.abs(x[:, 1]) > 0.8).astype(jnp.float32)

    def cost(p):
        return optax.sigmoid_binary_cross_entropy(net.apply({"params": p}, x), y).mean()

    loss, grads = jax.value_and_grad(cost)(params)
    updates, state = opt.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, optax.global_norm(grads)


for i in range(cfg["steps"]):
    params, state, loss, norm = step(params, state, jax.random.fold_in(key, i))
    if i % 15 == 0:
        line = {"i": i, "loss": round(float(loss), 4), "gnorm": round(float(norm), 4)}
        print(json.dumps(line))
        logged(i, loss=line["loss"], gnorm=line["gnorm"])
