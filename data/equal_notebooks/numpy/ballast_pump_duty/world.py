def files(version):
    import numpy as np
    r = np.random.default_rng(12)
    n = 2000
    on = np.zeros(n, dtype=bool)
    k = 15
    while k < n - 80:
        m = int(r.integers(25, 70)); on[k:k + m] = True; k += m + int(r.integers(40, 160))
    amp = np.where(on, 18 + r.normal(0, .6, n), .3).round(2)
    bar = (1.2 + 2.1 * on + r.normal(0, .05, n)).round(2)
    np.savez_compressed("engine_room_0412.npz", pump_on=on if version == "crashing" else on.astype(np.int8),
                        pressure_bar=bar.astype("f4"), motor_amp=amp.astype("f4"))
