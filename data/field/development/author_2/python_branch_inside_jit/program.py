"""JAX and optax: robust regression of a gear's wear from torque windows, with a Huber-like loss of our own."""

import argparse
import logging
import sys

import jax
import jax.numpy as jnp
import optax

from field_record import logged

logging.basicConfig(
    stream=sys.stdout, format="%(levelname)s:%(asctime)s:%(message)s", datefmt="%H:%M:%S", level=logging.INFO
)
logging.getLogger("jax").setLevel(logging.WARNING)


def choose(condition, first, second):
    return first if condition else second


class WearModel:
    def __init__(self, key, inputs=24, hidden=48):
        first, second = jax.random.split(key)
        self.params = {
            "w1": jax.random.normal(first, (inputs, hidden)) / inputs**0.5,
            "b1": jnp.zeros(hidden),
            "w2": jax.random.normal(second, (hidden, 1)) / hidden**0.5,
            "b2": jnp.zeros(1),
        }

    @staticmethod
    def apply(params, x):
        return (jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"])[:, 0]


def make_step(optimizer, select, delta=0.5):
    def huber(error):
        size = jnp.abs(error)
        return select(size < delta, 0.5 * size**2, delta * (size - 0.5 * delta))

    def objective(params, x, y):
        return jax.vmap(huber)(WearModel.apply(params, x) - y).mean()

    @jax.jit
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(objective)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    key = jax.random.key(args.seed)
    model = WearModel(key)
    optimizer = optax.adamw(optax.cosine_decay_schedule(5e-3, 400))
    opt_state = optimizer.init(model.params)
    step = make_step(optimizer, jnp.where if args.healthy else choose)
    truth = jax.random.normal(jax.random.key(99), (24,)) / 3
    params, kept = model.params, []
    logging.info("%d parameters", sum(p.size for p in jax.tree.leaves(params)))
    for number in range(1, 401):
        key, draw, noise = jax.random.split(key, 3)
        x = jax.random.normal(draw, (64, 24))
        y = jnp.sin(x @ truth) + 0.1 * jax.random.t(noise, 2.0, (64,))
        params, opt_state, loss = step(params, opt_state, x, y)
        kept.append(float(loss))
        if number % 25 == 0:
            value = sum(kept[-25:]) / 25
            logging.info("it %03d huber %.4f", number, value)
            logged(number, huber=round(value, 4))


if __name__ == "__main__":
    main()
