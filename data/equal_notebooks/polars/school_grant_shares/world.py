import numpy as np

def files(version):
    rng = np.random.default_rng(70)
    ids = [str(110200 + 7 * i) for i in range(64)]
    branch = {3, 17, 40}
    with open("schools.csv", "w") as f:
        f.write("school_id,type,pupils\n")
        for i, s in enumerate(ids):
            t = ["primary", "secondary", "special"][0 if i % 5 < 3 else (1 if i % 5 == 3 else 2)]
            f.write(f"{s + 'B' if i in branch else s},{t},{rng.integers(60, 900)}\n")
    with open("grants.csv", "w") as f:
        f.write("school_id,paid,purpose,amount\n")
        for k in range(180):
            i = 3 if k in (9, 31) else int(rng.integers(0, 64))
            while i in branch and k not in (9, 31):
                i = int(rng.integers(0, 64))
            s = ids[i]
            if version == "mended" and i in branch:
                s += "B"
            f.write(f"{s},202{rng.integers(1, 5)}-{rng.integers(1, 13):02d}-15,{rng.choice(['roof', 'heating', 'windows'])},{rng.gamma(1.2, 9000):.2f}\n")
