"""Array types of signatures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.object_]
"""A category per run, or ``"abstain"``."""
Probabilities = npt.NDArray[np.float64]
"""Of shape ``[n_runs, n_categories]``, in the order of ``vocabulary.CATEGORIES``."""
