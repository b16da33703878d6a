import datetime as dt
import numpy as np

def files(version):
    r = np.random.default_rng(1886)
    g = ["Lowfield", "Priory Road", "Sea Lane", "Mill Park"]
    with open("grounds.csv", "w") as f:
        f.write("ground,boundary_m\n" + "".join(f"{x},{b}\n" for x, b in zip(g, (62, 70, 58, 66))))
    with open("innings.csv", "w") as f:
        f.write("played,ground,batter,runs,balls,out\n")
        for i in range(430):
            d = dt.date(2019, 4, 12) + dt.timedelta(days=int(r.integers(0, 160)))
            text = d.strftime("%d/%m/%Y")
            if i == 287:
                text = "31/06/2019" if version == "crashing" else "30/06/2019"
            runs = int(r.geometric(1 / 26) - 1)
            f.write(f"{text},{r.choice(g)},{r.choice(['Ames','Birtle','Coyne','Dacre','Elwes','Frith','Garland','Hyde','Innes','Judd','Kerr'])},{runs},{int(runs * r.uniform(1, 2)) + int(r.integers(0, 6))},{int(r.random() < .88)}\n")
