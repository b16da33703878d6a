"""What fits bounds of the comparison between ranks and what scores it both read."""

from typing import Annotated

from pydantic import Field

from failbench.base.records import Record


class RankBoundsSettings(Record):
    """The section ``rank_bounds`` of params.yaml."""

    margins: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=1)
