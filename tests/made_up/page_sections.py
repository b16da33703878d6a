"""Sections of data of the committed page, as Python made them."""

import json
import re
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path

from opened_page import PAGE

ROOT = Path(__file__).parents[2]


@cache
def page_text():
    return PAGE.read_text(encoding="utf-8")


@cache
def section(name):
    """A section of the committed page."""
    block = re.search(
        rf'<script type="application/json" id="data-{name}">(.*?)</script>', page_text(), re.DOTALL
    )
    return json.loads(block[1])


def tenth(x):
    """A fraction in percent with one decimal, as a browser rounds it: halves go up."""
    return str(Decimal(100 * x).quantize(Decimal("0.1"), ROUND_HALF_UP))


def percent(x):
    """As the page writes a fraction."""
    return f"{tenth(x)} %"


def estimate(value, low, high):
    """As the page writes an estimate with its interval."""
    return f"{tenth(value)} [{tenth(low)}, {tenth(high)}] %"
