def files(version):
    import numpy as np, joblib
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    r = np.random.default_rng(41)
    names = np.array(["garnet", "ilmenite", "zircon"])
    centre = np.array([[24, 1, 20, .2, 1.2], [36, 28, 1, .3, 1.4], [1, .5, 1, 45, 2.1]])
    def draw(n):
        k = r.integers(0, 3, n)
        return centre[k] + r.normal(0, 1, (n, 5)) * [7, 6, 5, 8, .3], names[k]
    X, y = draw(400)
    model = RidgeClassifier() if version == "crashing" else LogisticRegression(max_iter=2000)
    joblib.dump(model.fit(X, y), "grain_model.joblib")
    X, y = draw(220)
    with open("grains_core12.csv", "w") as f:
        f.write("grain,fe,ti,al,zr,aspect,expert\n")
        for i in range(220):
            f.write(f"{i}," + ",".join(f"{v:.2f}" for v in X[i]) + f",{y[i] if i % 3 == 0 else ''}\n")
