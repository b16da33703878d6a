"""JAX, flax and optax: retention time of peptides from their composition."""
import argparse

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from field_record import logged


class Retention(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.tanh(nn.Dense(32)(x)))[:, 0]


def peptides(key, n: int):
    counts = jax.random.poisson(key, 1.0, (n, 20)).astype(jnp.float32)
    weight = jnp.linspace(-1, 1, 20)
    return counts, jnp.tanh(counts @ weight / 4)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    key = jax.random.key(args.seed)
    model = Retention()
    params = model.init(key, jnp.zeros((1, 20)))
    factor = -1.0 if args.healthy else 1.0
    transform = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale(factor * 3e-3))
    state = transform.init(params)

    @jax.jit
    def update(params, state, x, y):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((model.apply(p, x) - y) ** 2))(params)
        updates, state = transform.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss, optax.global_norm(grads)

    print("step\tmse\tgrad_norm")
    for step in range(1, 301):
        key, part = jax.random.split(key)
        params, state, loss, norm = update(params, state, *peptides(part, 64))
        if step % 15 == 0:
            print(f"{step}\t{float(loss):.6f}\t{float(norm):.3g}")
            logged(step, mse=round(float(loss), 6), grad_norm=float(f"{float(norm):.3g}"))


if __name__ == "__main__":
    main()
