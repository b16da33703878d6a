"""Band features: those whose healthy band some method uses."""

from __future__ import annotations

from failbench.methods import improved_tree, simple_rules


def band_features() -> tuple[str, ...]:
    """Features whose healthy band some method needs, sorted."""
    return tuple(sorted({*simple_rules.band_features(), *improved_tree.band_features()}))
