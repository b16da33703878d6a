"""One check of the audit, from its declaration to its finding."""

from __future__ import annotations

from failbench.audit.check import AuditSettings
from failbench.audit.claims import validate_claims

SETTINGS = AuditSettings(confidence=0.95, alpha=0.05, draws=2000, seed=0)


def declared(**check):
    """The content of a file with one claim."""
    return {
        "claims": {
            "made_up": {
                "quantity": "a made-up claim",
                "printed": "one",
                "place": "Table 1",
                "check": check,
            }
        }
    }


def check(kind, **figures):
    claims = validate_claims(declared(kind=kind, **figures)).claims
    return claims["made_up"].check.finding(SETTINGS)
