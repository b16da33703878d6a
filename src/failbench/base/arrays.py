"""Array types of signatures."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.object_]  # a category per run, or ``"abstain"``
Probabilities = npt.NDArray[np.float64]  # ``[n_runs, n_categories]``, ordered as ``CATEGORIES``
