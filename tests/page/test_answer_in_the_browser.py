import pytest

import made_up_answers as answers
from failbench.diagnose.outputs.html_page import html_of
from opened_page import DESKTOP, PHONE


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("make", [answers.answer, answers.unknown, answers.hostile])
def test_an_answer_is_readable_by_everyone(browser, axe, tmp_path, make, viewport):
    path = tmp_path / "why.html"
    path.write_text(html_of(make()), encoding="utf-8")
    context = browser.new_context(viewport=viewport)
    context.set_offline(True)
    page = context.new_page()
    troubles = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url == path.as_uri() else troubles.append(request.url),
    )
    page.goto(path.as_uri())
    page.locator("main h1").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert axe(page) == []
    assert troubles == []
    context.close()
