"""What matplotlib draws on and draws: a real object of each class, with default settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

FIGURE: Final = "matplotlib.figure.Figure"
PROJECTIONS: Final = {
    "matplotlib.axes._axes.Axes": "rectilinear",
    "matplotlib.projections.polar.PolarAxes": "polar",
    "mpl_toolkits.mplot3d.axes3d.Axes3D": "3d",
}
DRAWN: Final[dict[str, Callable[[Any], Any]]] = {
    "matplotlib.lines.Line2D": lambda axes: axes.plot([0, 1], [0, 1])[0],
    "matplotlib.text.Text": lambda axes: axes.text(0, 0, "text"),
    "matplotlib.container.BarContainer": lambda axes: axes.bar([0, 1, 2], [1, 2, 3]),
    "matplotlib.collections.PathCollection": lambda axes: axes.scatter([0, 1], [0, 1], c=[0, 1]),
    "matplotlib.collections.QuadMesh": lambda axes: axes.pcolormesh(np.eye(3)),
    "matplotlib.contour.QuadContourSet": lambda axes: axes.contourf(np.eye(3)),
    "matplotlib.image.AxesImage": lambda axes: axes.imshow(np.eye(3)),
    "matplotlib.legend.Legend": lambda axes: axes.legend(axes.plot([0, 1]), ["line"]),
    "matplotlib.colorbar.Colorbar": lambda axes: axes.figure.colorbar(axes.imshow(np.eye(3))),
}


class Pictures:
    """Makes what one figure holds."""

    def __init__(self) -> None:
        self._figure: Any = None

    def make(self, path: str) -> Any:
        """An object of one of the classes; all that is not a figure is in the same one."""
        import matplotlib.pyplot as plt

        self._figure = self._figure or plt.figure()
        if path in PROJECTIONS:
            return self._figure.add_subplot(projection=PROJECTIONS[path])
        axes = self._figure.gca()
        return self._figure if path == FIGURE else DRAWN[path](axes)

    def panels(self, path: str, shape: list[int]) -> Any:
        """An array of axes of a class, as a figure of several panels gives it."""
        made = np.empty(shape, object)
        for place in np.ndindex(*shape):
            made[place] = self.make(path)
        return made


MADE: Final = frozenset({FIGURE, *PROJECTIONS, *DRAWN})
"""Classes of which an object can be made."""
