"""What recorded code imports by this name, which is part of its fingerprint."""

from failbench.base.records import Record
from failbench.base.scenarios import OPTIMIZERS, Architecture, FaultDeclaration, Optimizer

__all__ = ["OPTIMIZERS", "Architecture", "FaultDeclaration", "Optimizer", "Record"]
