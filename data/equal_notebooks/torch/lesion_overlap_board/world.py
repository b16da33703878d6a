import numpy as np


def files(version):
    rng = np.random.default_rng(55)
    n, s = 24, 28
    yy, xx = np.mgrid[:s, :s]
    masks, probs = [], []
    for i in range(n):
        cy, cx, r = rng.uniform(8, 20), rng.uniform(8, 20), rng.uniform(3, 9)
        m = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
        if i in (6, 15):
            m[:] = False
        d = np.sqrt((yy - cy - 1) ** 2 + (xx - cx) ** 2) - r
        p = 1 / (1 + np.exp(d)) + rng.normal(0, 0.03, m.shape)
        masks.append(m)
        probs.append(np.clip(p * 255, 0, 255).astype("uint8"))
    masks = np.array(masks)
    if version == "mended":
        masks = masks.astype("uint8")
    np.savez_compressed("lesion_crops.npz", masks=masks, probs=np.array(probs), case_ids=np.array([f"c{i:02d}" for i in range(n)]))
