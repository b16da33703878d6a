"""What the paper says of the routes of its hybrids, and whether its figures add up."""

from __future__ import annotations

from failbench.errors import BadInputError
from failbench.reporting.cells import percent
from failbench.reporting.reported import REPORTED_HYBRIDS, Reported, reported_number
from failbench.studies.hybrid.routing import ROUTES
from failbench.vocabulary import Route

HYBRIDS = ("hybrid", "hybrid_two_way")


ARITHMETIC_NOTE = (
    "Reported: {three_way} for the three-way hybrid, {two_way} for the other. There the parts make "
    "{share:.2f} × {precision} + {rest:.2f} × {classifier} = {sum} %, and not {claimed}; the "
    "{figure} % of the three-way hybrid need people who are right in {human} % of what is left to "
    "them, if the forest is right in {classifier} %, and the paper's are right in {people} %."
)


def reported_routes(paper: Reported) -> dict[str, tuple[dict[Route, float], dict[Route, float]]]:
    """Shares and precisions of the routes that the paper gives, by hybrid."""
    shares = _series(paper, "hybrid_shares", len(ROUTES))
    parts = _series(paper, "hybrid_parts", 4)
    return {
        "hybrid": (
            dict(zip(ROUTES, shares, strict=True)),
            {"rules": reported_number(paper, "hybrid_rules_precision")},
        ),
        "hybrid_two_way": (
            {"rules": parts[0], "classifier": parts[2]},
            {"rules": parts[1], "classifier": parts[3]},
        ),
    }


def reported_arithmetic(paper: Reported) -> str:
    """What the paper's parts make, held against its totals."""
    (shares, precisions), (parts, rates) = (reported_routes(paper)[hybrid] for hybrid in HYBRIDS)
    total = reported_number(paper, REPORTED_HYBRIDS["hybrid"])
    answered = shares["rules"] * precisions["rules"] + shares["classifier"] * rates["classifier"]
    return ARITHMETIC_NOTE.format(
        three_way=paper.claims["hybrid_shares"].place,
        two_way=paper.claims["hybrid_parts"].place,
        share=parts["rules"],
        precision=percent(rates["rules"]),
        rest=parts["classifier"],
        classifier=percent(rates["classifier"]),
        sum=percent(sum(parts[route] * rates[route] for route in parts)),
        claimed=percent(reported_number(paper, REPORTED_HYBRIDS["hybrid_two_way"])),
        figure=percent(total),
        human=percent((total - answered) / shares["human"]),
        people=percent(reported_number(paper, "human_accuracy")),
    )


def _series(paper: Reported, name: str, length: int) -> tuple[float, ...]:
    claim = paper.claims.get(name)
    if claim is None or not isinstance(claim.value, tuple) or len(claim.value) != length:
        raise BadInputError(
            "data/reported/paper.yaml",
            f"claims.{name}",
            f"is missing or is not a list of {length} numbers.",
            "Restore it from the paper.",
        )
    return claim.value
