"""The one error that bad input raises."""

from __future__ import annotations


class BadInputError(Exception):
    """Input that cannot be used, said in one sentence a person can act on.

    Parameters
    ----------
    place
        The file (and, where there is one, the line or row) that is at fault.
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
