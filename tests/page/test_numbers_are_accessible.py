"""Methods and reported numbers meet axe in both themes, on a desk and on a phone."""

from __future__ import annotations

import pytest

from opened_page import DESKTOP, PHONE

OPENED = {
    "#/methods": lambda page: page.locator(".risk .drawn .line").first.wait_for(),
    "#/methods?simulated=1": lambda page: page.locator("button.opens").first.click(),
    "#/reported?section=Table+1": lambda page: page.locator(".reported summary").first.click(),
}


@pytest.mark.parametrize(
    ("viewport", "theme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desk-light", "phone-dark"]
)
@pytest.mark.parametrize("route", OPENED)
def test_axe_finds_nothing(page_at, axe, route, viewport, theme):
    page = page_at(route, viewport=viewport, theme=theme)
    OPENED[route](page)
    assert axe(page) == []


@pytest.mark.parametrize("route", OPENED)
def test_a_phone_scrolls_in_one_direction(page_at, route):
    page = page_at(route, viewport=PHONE)
    OPENED[route](page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
