def files(version):
    import numpy as np
    r = np.random.default_rng(21)
    n, m = 160, 90
    gap = 2.2 if version == "crashing" else 7.5
    def disc(k, s): 
        a, q = r.uniform(0, 2 * np.pi, k), s * np.sqrt(r.uniform(0, 1, k)); return np.c_[q * np.cos(a), q * np.sin(a)]
    field = disc(n, 2.4) + [-2.0, -1.5]
    club = disc(m, 1.0) + [-2.0 + gap, -1.5 + .3]
    P = np.vstack([field, club]); par = np.r_[r.normal(1.1, .4, n), r.normal(2.6, .1, m)]
    with open("cone_search.csv", "w") as f:
        f.write("source,pmra,pmdec,pmra_error,pmdec_error,parallax,gmag\n")
        for i in r.permutation(n + m):
            f.write(f"{5100 + i},{P[i, 0]:.3f},{P[i, 1]:.3f},{r.uniform(.02, .2):.3f},{r.uniform(.02, .2):.3f},{par[i]:.3f},{r.uniform(9, 17.5):.2f}\n")
