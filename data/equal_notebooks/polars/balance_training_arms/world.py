import numpy as np

def files(version):
    r = np.random.default_rng(1203)
    n = 84
    late = "follow-up" if version == "crashing" else "followup"
    with open("patients.csv", "w") as f:
        f.write("patient,arm,age,weight_kg,height_cm\n")
        for i in range(n):
            f.write(f"{i+1},{['Training','Usual care'][i % 2]},{r.integers(58, 88)},{r.integers(52, 98)},{r.integers(150, 190)}\n")
    with open("stance_tests.csv", "w") as f:
        f.write("patient,phase,trial,seconds\n")
        for i in range(n):
            g = r.normal(9, 3)
            for p, (phase, up) in enumerate((("baseline", 0), ("discharge", 2), (late, 5))):
                if p and r.random() < .08:
                    continue
                for t in range(1, int(r.integers(2, 4)) + 1):
                    f.write(f"{i+1},{phase},{t},{max(.8, r.normal(g + up, 1.5)):.1f}\n")
