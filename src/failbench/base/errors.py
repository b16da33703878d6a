"""The exception for bad input."""

from __future__ import annotations


class BadInputError(Exception):
    """Unusable input, with a remedy.

    Parameters
    ----------
    place
        The file at fault, with line or row if any.
    field
        The key, column or option that is wrong.
    problem
        What is wrong with it.
    remedy
        What to do about it.
    """

    def __init__(self, place: object, field: str, problem: str, remedy: str) -> None:
        self.place = str(place)
        self.field = field
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{self.place}: {field}: {problem} {remedy}")

    def __reduce__(self) -> tuple[type[BadInputError], tuple[str, str, str, str]]:
        """What makes it anew in another process, where exceptions are given their message alone."""
        return type(self), (self.place, self.field, self.problem, self.remedy)
