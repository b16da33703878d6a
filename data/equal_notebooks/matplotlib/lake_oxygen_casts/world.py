def files(version):
    import numpy as np
    r = np.random.default_rng(52)
    with open("casts_august.csv", "w") as f:
        f.write("cast,depth,temp,oxygen\n")
        for c in "ABC":
            for i in range(36):
                d = .5 * i
                t = 6 + 17 / (1 + np.exp((d - 6) / 1.1)) + r.normal(0, .1); o = max(.05, 9.5 / (1 + np.exp((d - 8) / 1.6)) + r.normal(0, .1))
                ds = "" if version == "crashing" and c == "B" and i == 21 else f"{d + r.normal(0, .02):.2f}".replace("-", "")
                f.write(f"{c},{ds},{t:.2f},{o:.2f}\n")
