"""Array types of signatures."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.object_]
"""A category per run, or ``"abstain"``."""
Probabilities = npt.NDArray[np.float64]
"""Of shape ``[n_runs, n_categories]``, in the order of ``vocabulary.CATEGORIES``."""
