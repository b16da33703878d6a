import numpy as np

def files(version):
    rng = np.random.default_rng(58)
    sites = ["brook lane", "mill field", "railway side", "top meadow"]
    with open("allotments.csv", "w") as f:
        f.write("site,area,rent,tenant_since\n")
        for i in range(160):
            a = int(rng.integers(90, 320))
            f.write(f"{sites[i % 4]},{a},{a * rng.uniform(.25, .4):.2f},{'' if i % 23 == 4 else rng.integers(1985, 2024)}\n")
    with open("waiting.csv", "w") as f:
        f.write("site,waiting\n" + "".join(f"{s},{rng.integers(5, 60)}\n" for s in sites))

def environment(version):
    return {"REPORT_STYLE": "seaborn-whitegrid" if version == "crashing" else "seaborn-v0_8-whitegrid", "REPORT_CURRENCY": "GBP"}
