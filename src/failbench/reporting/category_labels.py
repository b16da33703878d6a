"""Category labels: what causes are called in tables, and in figures that have little room."""

from __future__ import annotations

from typing import Final

from failbench.scenarios import Category

CATEGORY_LABELS: Final[dict[Category, str]] = {
    "memory_hardware": "Memory hardware",
    "optimization": "Optimization",
    "data_pipeline": "Data pipeline",
    "model_software": "Model software",
    "unknown": "Unknown",
}

SHORT_LABELS: Final[dict[Category, str]] = {
    "memory_hardware": "memory",
    "optimization": "optim.",
    "data_pipeline": "data",
    "model_software": "model",
    "unknown": "unknown",
}
"""For the axes of small panels."""
