"""Vocabulary: what the user says of the tokenizer whose ids the model reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """The ids of a tokenizer.

    Attributes
    ----------
    size
        Number of ids: valid are 0 to ``size - 1``.
    padding
        Id that fills rows up, if there is one.
    unknown
        Id of text that the tokenizer does not know, if there is one.

    Raises
    ------
    ValueError
        If the size is not positive, or an id is not one of the vocabulary's.
    """

    size: int
    padding: int | None = None
    unknown: int | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(
                f"A vocabulary of {self.size} ids has none: give the size of the tokenizer."
            )
        for name, number in (("padding", self.padding), ("unknown", self.unknown)):
            if number is not None and not 0 <= number < self.size:
                raise ValueError(
                    f"The id {number} of {name} is outside the vocabulary of {self.size} ids: "
                    "give an id that the tokenizer makes, or None where it has none."
                )
