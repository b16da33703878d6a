def files(version):
    import numpy as np
    from datetime import datetime, timedelta
    r = np.random.default_rng(44)
    t = datetime(2023, 9, 1)
    with open("logbook.csv", "w") as f:
        f.write("night,mag,sky,comparison\n")
        for i in range(170):
            ph = ((t - datetime(2023, 5, 19)).days / 331.6) % 1
            m = 6.3 - 2.8 * np.cos(2 * np.pi * ph) + r.normal(0, .12)
            f.write(f"{t:%Y-%m-%d},{'' if r.random() < .04 else f'{m:.1f}'},{['clear', 'haze', 'moon'][r.integers(0, 3)]},{['delta', 'alpha', '71'][r.integers(0, 3)]}\n")
            t += timedelta(days=1)

def today(version):
    return "2024-02-21T21:15:00" if version == "crashing" else "2024-02-15T21:15:00"
