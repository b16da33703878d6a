import argparse, os, resource
os.environ["KERAS_BACKEND"] = "torch"
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
import keras, numpy as np, torch
from field_record import logged
a = argparse.ArgumentParser(); a.add_argument("--healthy", action="store_true")
a.add_argument("--seed", type=int, default=0)
args = a.parse_args()
keras.utils.set_random_seed(args.seed); torch.set_num_threads(1)
V, T, n = 11172, 24, 12000  # 가..힣
rng = np.random.default_rng(args.seed)
base = "오늘도 좋은 하루 보내세요 정말 감사합니다 너무 싫어요 다시는 안 가요".replace(" ", "")
pool = np.array([ord(c) - 0xAC00 for c in base])
X = pool[rng.integers(0, len(pool), (n, T))]
y = (X == ord("싫") - 0xAC00).any(1).astype("int32")


def hot(ids):
    return keras.ops.one_hot(ids, V)


inp = keras.Input((T,), dtype="int32") if args.healthy else keras.Input((T, V))
if inp.shape[-1] == V:
    h, data = keras.layers.Dense(16, use_bias=False)(inp), hot
else:
    h, data = keras.layers.Embedding(V, 16)(inp), np.asarray
m = keras.Model(inp, keras.layers.Dense(2, activation="softmax")(keras.layers.GlobalMaxPooling1D()(h)))
m.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
m.summary()
cb = keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: logged(e, **logs))
m.fit(data(X), y, epochs=3, batch_size=200, verbose=2, validation_split=.1, callbacks=[cb])
