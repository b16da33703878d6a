def files(version):
    import numpy as np
    r = np.random.default_rng(8)
    with open("releases.csv", "w") as f:
        f.write("station,x_km,y_km,depth_m,thousand_ind\n")
        for i in range(45):
            f.write(f"S{i:02d},{400 + 40 * i + r.normal(0, 9):.1f},{900 + 12 * i + r.normal(0, 15):.1f},{int(r.integers(0, 300))},{r.gamma(3, 8):.1f}\n")

def environment(version):
    return {"DRIFT_CELL_KM": "0.025" if version == "crashing" else "20"}
