import numpy as np

def files(version):
    rng = np.random.default_rng(23)
    names = ["Ashfield", "Beacon Hill", "Carr Lane", "Dene Park", "Eastgate", "Fulwood", "Grange", "Holy Cross",
             "Ingleby", "Kingsmead", "Larkhill", "Moorside", "Northcote", "Oakdale"]
    roll = rng.integers(120, 420, len(names))
    with open("schools.csv", "w") as f:
        f.write("school,roll,free\n")
        for n, r in zip(names, roll):
            f.write(f"{n},{r},{int(r * rng.uniform(.1, .5))}\n")
    with open("lunches.csv", "w") as f:
        f.write("school,week,meals\n")
        for week in range(1, 15):
            for n, r in zip(names, roll):
                if (n, week) == ("Grange", 1):
                    continue
                w = 8 if (version == "crashing" and n == "Moorside" and week == 9) else week
                f.write(f"{n},{w},{int(5 * r * rng.uniform(.45, .7))}\n")
