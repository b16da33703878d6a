"""JAX and optax: logistic regression of spike trains, with a step that skips large updates."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax

from field_record import logged


def spikes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    rate = np.where(y[:, None] == 1, np.linspace(0.2, 2.0, 16), np.linspace(2.0, 0.2, 16))
    return rng.poisson(rate).astype("float32"), y.astype("float32")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    params = {"w": jnp.zeros(16), "b": jnp.zeros(())}
    optimizer = optax.sgd(0.05, momentum=0.9)
    state = optimizer.init(params)

    def loss_of(params, x, y):
        return optax.sigmoid_binary_cross_entropy(x @ params["w"] + params["b"], y).mean()

    def update(params, state, x, y):
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        if optax.global_norm(grads) > 100.0:
            return params, state, loss
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    step_function = update if args.healthy else jax.jit(update)
    for step in range(40):
        params, state, loss = step_function(params, state, *spikes(rng, 128))
        if step % 2 == 0:
            print(f"I{step:04d} train] {{'xent': {float(loss):.5f}}}")
            logged(step, xent=round(float(loss), 5))


if __name__ == "__main__":
    main()
