# flax MLP for house prices (tabela sintética), dropout only in training
import argparse
import functools
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state
from field_record import logged

parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rng = np.random.default_rng(args.seed)

n = 2000
area, quartos, idade = rng.uniform(30, 200, n), rng.integers(1, 5, n), rng.uniform(0, 50, n)
preco = 3.0 * area + 40 * quartos - 2.0 * idade + rng.normal(0, 15, n)
X = np.stack([area / 100, quartos / 3, idade / 25], 1).astype(np.float32)
Y = ((preco - preco.mean()) / preco.std()).astype(np.float32)


class Rede(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(64)(x))
        if train:
            x = nn.Dropout(0.05, deterministic=False)(x)
        x = nn.relu(nn.Dense(32)(x))
        return nn.Dense(1)(x)[:, 0]


rede = Rede()
key = jax.random.PRNGKey(args.seed)
params = rede.init(key, X[:1], False)["params"]
estado = train_state.TrainState.create(apply_fn=rede.apply, params=params, tx=optax.adamw(3e-3))


@functools.partial(jax.jit, static_argnames=("train",) if args.healthy else ())
def predict(params, x, train, key):
    return rede.apply({"params": params}, x, train, rngs={"dropout": key})


@jax.jit
def step(estado, x, y, key):
    def loss(p):
        return jnp.mean((rede.apply({"params": p}, x, True, rngs={"dropout": key}) - y) ** 2)
    valor, grads = jax.value_and_grad(loss)(estado.params)
    return estado.apply_gradients(grads=grads), valor


for epoca in range(1, 16):
    for idx in np.array_split(rng.permutation(1600), 25):
        key, sub = jax.random.split(key)
        estado, valor = step(estado, X[idx], Y[idx], sub)
    print(f"época {epoca}: mse do último lote = {float(valor):.4f}")
    logged(epoca, mse=round(float(valor), 4))
    if epoca % 5 == 0:
        p = predict(estado.params, X[1600:], False, key)
        r2 = 1 - float(jnp.mean((p - Y[1600:]) ** 2) / jnp.var(Y[1600:]))
        print(f"--> R2 no teste: {r2:.2%}".replace(".", ","))
        logged(epoca, R2=round(100 * r2, 2))
