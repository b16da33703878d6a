def files(version):
    import numpy as np
    r = np.random.default_rng(14)
    n = 96
    X = r.normal(.25, .06, (n, 12))
    size = .012 if version == "crashing" else .05
    z = (X - .25) / .06
    y = .24 + size * (z[:, 2] * .8 - z[:, 7] * .6) + r.normal(0, .012, n)
    with open("overpass_may.csv", "w") as f:
        f.write("station," + ",".join(f"b{i + 1}" for i in range(12)) + ",moisture\n")
        for i in range(n):
            f.write(f"F{i:03d}," + ",".join("" if r.random() < .01 else f"{v:.4f}" for v in X[i]) + f",{y[i]:.4f}\n")
