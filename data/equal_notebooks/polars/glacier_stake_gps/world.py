def files(version):
    import numpy as np
    from datetime import datetime, timedelta
    r = np.random.default_rng(36)
    rows = []
    for i in range(420):
        t = datetime(2023, 8, 1) + timedelta(hours=i)
        a = .011 * i + .03 * np.sin(i / 24 * 6.28)
        rows.append(f"{t:%Y-%m-%d %H:%M:%S},{5231.4 + a * np.sin(np.deg2rad(214)) + r.normal(0, .02):.3f},{8120.9 + a * np.cos(np.deg2rad(214)) + r.normal(0, .02):.3f},{6 + r.integers(0, 5) if i in range(280, 300) else 4 + r.integers(0, 7)}")
    if version == "crashing":
        rows[287], rows[288] = rows[288], rows[287]
    open("stake_g4.csv", "w").write("time,east,north,sats\n" + "\n".join(rows) + "\n")
