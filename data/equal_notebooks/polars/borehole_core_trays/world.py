def files(version):
    import numpy as np
    r = np.random.default_rng(88)
    top = 412.0
    with open("trays.csv", "w") as f:
        f.write("tray,from,to,rock,rqd\n")
        for i in range(150):
            n = f"{31 + i // 40}{i % 40 + 1:03d}"
            if version == "mended" and i // 40 == 1: n = "3B" + n[2:]
            end = top + r.uniform(2.6, 3.1)
            f.write(f"{n},{top:.2f},{end:.2f},{['Gneiss', 'gneiss ', 'Amphibolite', 'Marble'][r.integers(0, 4)]},{r.integers(20, 100)}\n")
            top = end + (r.uniform(.1, .6) if r.random() < .1 else 0)
