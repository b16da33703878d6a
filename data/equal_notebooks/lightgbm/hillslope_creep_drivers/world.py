def files(version):
    import numpy as np
    r = np.random.default_rng(29)
    n = 260
    slope = r.uniform(5, 38, n); clay = r.uniform(5, 45, n); wt = r.uniform(.3, 6, n)
    mm = np.clip(2 + .35 * slope + .2 * clay - 1.4 * wt + r.normal(0, 2, n), .1, None)
    with open("markers.csv", "w") as f:
        f.write("marker,slope,clay,water_table,forest,aspect,creep\n")
        for i in range(n):
            c = f"{mm[i] / 1000:.5f}" if version == "crashing" else f"{mm[i]:.2f}"
            f.write(f"M{i:03d},{slope[i]:.1f},{clay[i]:.1f},{wt[i]:.2f},{int(r.random() < .5)},{r.integers(0, 360)},{c}\n")
