from failbench.base.records import kept_by_hand
from failbench.publish.audit.claims import AuditedPaper
from failbench.publish.audit.figures import AuditSettings

SETTINGS = AuditSettings(confidence=0.95, alpha=0.05, draws=2000, seed=0)


def declared(**check):
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
    claims = kept_by_hand(
        AuditedPaper, declared(kind=kind, **figures), "data/reported/claims.yaml"
    ).claims
    return claims["made_up"].check.finding(SETTINGS)
