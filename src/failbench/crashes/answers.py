"""By what a recorded answer is known; predictors need this and no table."""

import hashlib
import json
from dataclasses import asdict

from failbench.crashes.question import Question


def asked(question: Question) -> str:
    """SHA-256 of a question, by which a recorded answer is known to be of it."""
    summary = None if question.summary is None else asdict(question.summary)
    content = {"executed": question.executed, "target": question.target, "summary": summary}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
