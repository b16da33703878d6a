"""What recorded code imports by this name, which is part of its fingerprint."""

from failbench.base.records import Record

__all__ = ["Record"]
