"""What recorded code imports by this name, which is part of its fingerprint."""

from failbench.base.vocabulary import ABSTAIN, CATEGORIES, Answer, Category

__all__ = ["ABSTAIN", "CATEGORIES", "Answer", "Category"]
