def files(version):
    import json, numpy as np
    r = np.random.default_rng(31)
    n = 480
    t = np.arange(n) / 48
    temp = 14 + 3 * np.sin(2 * np.pi * t) + r.normal(0, .4, n)
    flux = 40 * 2.4 ** ((temp - 14) / 10) + r.normal(0, 4, n)
    flag = r.choice([0, 0, 0, 0, 1, 2], n).astype(np.int8)
    if version == "crashing":
        flag = flag[:-2]
    np.savez("chamber_july.npz", ch4_flux=flux.astype("f4"), qc_flag=flag, peat_temp=temp.astype("f4"))
    json.dump({"site": "Hochmoor B", "start": "2023-07-04", "step_min": 30}, open("campaign.json", "w"))
