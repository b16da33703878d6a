import numpy as np

def files(version):
    rng = np.random.default_rng(12)
    estates = ["Linden", "Castle", "Brook", "Station"]
    pr = ["emergency", "Urgent", "routine", "planned "]
    with open("open_jobs.csv", "w") as f:
        f.write("job,estate,priority,hours\n")
        for i in range(85):
            f.write(f"R{24000 + i},{rng.choice(estates)},{rng.choice(pr, p=[.1, .3, .5, .1])},{rng.gamma(2, 3):.1f}\n")
    with open("holidays.txt", "w") as f:
        f.write("\n".join(["2025-01-01", "2025-04-18", "2025-04-21", "2025-05-05", "2025-05-26", "2025-08-25", "2025-12-25", "2025-12-26"]) + "\n")

def today(version):
    return "2025-03-15T10:20:00" if version == "crashing" else "2025-03-13T10:20:00"
