"""What recorded code imports by this name, which is part of its fingerprint."""

from failbench.base.errors import BadInputError

__all__ = ["BadInputError"]
