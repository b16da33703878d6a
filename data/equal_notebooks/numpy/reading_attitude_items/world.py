import json
import numpy as np

def files(version):
    r = np.random.default_rng(33)
    names = ["enjoys_novels", "reads_daily", "library_visits", "owns_books", "talks_books", "newspapers", "poetry", "rereads", "gifts_books"]
    json.dump([{"name": n, "mean": round(float(r.uniform(2.2, 3.9)), 2), "sd": round(float(r.uniform(.8, 1.3)), 2)} for n in names], open("items.json", "w"))
    k = 9
    load = r.uniform(.45, .75, k)
    R = np.outer(load, load) + r.normal(0, .03, (k, k))
    R = (R + R.T) / 2
    R[1, 0] = .82
    R[2, 0] = .78
    R[2, 1] = .71 if version == "mended" else .17
    R = R.round(2)
    i, j = np.tril_indices(k, -1)
    np.savetxt("correlations.txt", R[i, j], fmt="%.2f")
    M = np.eye(k); M[i, j] = R[i, j]; M[j, i] = R[i, j]
    low = np.linalg.eigvalsh(M).min()
    assert (low < -.02) == (version == "crashing") and abs(low) > .02, low
