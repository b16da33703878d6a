import numpy as np

def files(version):
    r = np.random.default_rng(88)
    years = np.sort(r.integers(1908, 1990, 260))
    seen = {}
    with open("accessions.csv", "w") as f:
        f.write("number,material,origin,how,width_cm,length_cm\n")
        for y in years:
            seen[y] = seen.get(y, 0) + 1
            sep = "" if version == "crashing" else "/"
            number = f"{y}{sep}{seen[y]:03d}"
            o = r.choice(["Bukhara", "Anatolia", "Flanders", "Oaxaca", ""], p=[.3, .25, .2, .15, .1])
            f.write(f"{number},{r.choice(['Wool','silk ','Linen','cotton'])},{o},{r.choice(['gift','purchase','bequest'])},{r.integers(20, 260)},{r.integers(20, 300)}\n")
