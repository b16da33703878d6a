import re
from functools import cache
from typing import Any

import polars as pl
import pytest

import made_up_answers as answers
from failbench.base.methods import RECORDED_MODEL
from failbench.base.scenarios import Scenario, read_scenarios
from failbench.base.vocabulary import ABSTAIN, PRIMARY_SET
from failbench.diagnose.outputs.html_page import html_of
from failbench.publish.page.methods import ASKED_ONCE
from failbench.study.labels import METHOD_LABELS
from opened_page import DESKTOP, PHONE
from page_sections import section
from pipeline import REPOSITORY

VIEWS = {
    **dict.fromkeys(
        (
            "#/",
            "#/symptoms",
            "#/symptoms/memory",
            "#/failures",
            "#/failure/learning_rate_jump",
            "#/failure/killed_by_host",
            "#/answers",
            "#/reported?section=Table+1",
            "#/audit?section=Table+1",
        )
    ),
    "#/methods": lambda page: page.locator(".risk .drawn").scroll_into_view_if_needed(),
    "#/methods?simulated=1": lambda page: page.locator("button.opens").first.click(),
}
"""Routes, and what is done there before anyone looks."""

REFERENCE = "transformer-adamw"

CUT_OFF = """() => [...document.querySelectorAll("main *, header *")]
  .filter((element) => !element.closest(".hidden, [hidden], dialog, .terminal"))
  .flatMap((element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE))
  .filter((text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    return [...range.getClientRects()].some(
      ({ left, right, width }) => width && (left < -0.5 || right > innerWidth + 0.5),
    );
  })
  .map((text) => text.textContent)
  .concat(
    [...document.querySelectorAll(".scroll, pre:not(.terminal)")]
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .map((box) => `scrolls: ${box.ariaLabel}`),
  )"""
"""Texts over an edge of the window, and boxes that scroll sideways, the tool's answers apart."""

BEFORE_A_CHART = """() => [...document.querySelectorAll("svg.chart")].flatMap((chart) =>
  [...chart.querySelectorAll("text")]
    .filter((text) => text.getBoundingClientRect().left < chart.getBoundingClientRect().left - 0.5)
    .map((text) => text.textContent),
)"""
"""Texts of charts that begin left of them."""


@cache
def scenarios() -> dict[str, Scenario]:
    return {scenario.id: scenario for scenario in read_scenarios(REPOSITORY / "data/scenarios")}


@cache
def recorded(setting: str, seed: int = 0) -> pl.DataFrame:
    architecture, optimizer = setting.split("-")
    return pl.read_parquet(REPOSITORY / "data/telemetry/runs.parquet").filter(
        pl.col("kind") == "failure",
        pl.col("architecture") == architecture,
        pl.col("optimizer") == optimizer,
        pl.col("seed") == seed,
    )


@cache
def mostly(method: str) -> dict[str, str]:
    """By scenario what more than half of a method's answers are, counted anew."""
    answers = pl.read_parquet(REPOSITORY / f"data/predictions/nested_cv/{method}.parquet")
    shares = (
        answers.filter(pl.col("feature_set") == PRIMARY_SET)
        .group_by("scenario")
        .agg(
            right=(pl.col("prediction") == pl.col("category")).mean(),
            abstained=(pl.col("prediction") == ABSTAIN).mean(),
        )
        .with_columns(wrong=1 - pl.col("right") - pl.col("abstained"))
    )
    return {
        row["scenario"]: next(
            (name for name in ("right", "wrong", "abstained") if row[name] > 0.5 + 1e-9), "divided"
        )
        for row in shares.iter_rows(named=True)
    }


def count(page: Any) -> int:
    text = page.locator("#count").inner_text()
    while (more := page.locator("#more")).is_visible():
        more.click()
    shown = page.locator(".card").count()
    assert text == f"{shown} of {len(scenarios())} scenarios"
    return shown


@pytest.mark.parametrize(("viewport", "theme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=str)
@pytest.mark.parametrize("route", VIEWS)
def test_everyone_can_use_a_view_and_a_phone_cuts_off_none_of_its_text(
    page_at, axe, route, viewport, theme
):
    page = page_at(route, theme=theme, viewport=viewport)
    if prepare := VIEWS[route]:
        prepare(page)
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.evaluate(CUT_OFF) == []
    assert axe(page) == []


def test_what_nobody_can_use_is_found(page_at, axe):
    page = page_at("#/")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert axe(page) == ["button-name: <button></button>"]


def test_filters_stand_in_the_address_and_hold_together(page_at):
    page = page_at("#/failures?outcome=crash&declared=easy&setting=gru-adamw")
    runs = recorded("gru-adamw").filter(pl.col("outcome") == "crash")["scenario"]
    easy = [name for name in runs if scenarios()[name].difficulty == "easy"]
    assert count(page) == len(easy) > 0
    page.get_by_role("button", name="Clear all").click()
    assert count(page) == len(scenarios())
    assert page.url.endswith("#/failures")
    measured = pl.read_parquet(REPOSITORY / "data/measurements/difficulty/scenarios.parquet")
    hard = page_at("#/failures?measured=hard")
    assert count(hard) == (measured["measured"] == "hard").sum()


@pytest.mark.parametrize(
    ("method", "said"),
    [("random_forest", "right"), ("improved_rules", "abstained"), ("invariants", "wrong")],
)
def test_who_got_it_right_is_counted_over_repeats_and_seeds(page_at, method, said):
    page = page_at("#/failures")
    page.select_option("#filter-method", method)
    page.select_option("#filter-said", said)
    assert count(page) == list(mostly(method).values()).count(said) > 0


def test_a_keyboard_reaches_a_filter_and_opens_a_card(page_at):
    page = page_at("#/failures?category=unknown")
    focused = "document.activeElement.id"
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "filter-category":
            break
    assert page.evaluate(focused) == "filter-category"
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.card') !== null"):
            break
    page.keyboard.press("Enter")
    focused_heading = page.locator("main h1:focus")
    focused_heading.wait_for()  # the address changes before the view does
    assert "#/failure/" in page.url
    assert focused_heading.inner_text() in {each.title for each in scenarios().values()}


def test_the_skip_link_comes_first_and_leads_to_the_content(page_at):
    page = page_at("#/failures")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.url.endswith("#/failures")


def test_another_signal_and_setting_draw_another_picture_that_says_what_it_is(page_at):
    page = page_at("#/failure/learning_rate_jump")
    picture = page.locator("figure svg[role=img]").first
    assert "training loss" in picture.get_attribute("aria-label")
    page.select_option("#choose-signal", "gradient_norm")
    page.select_option("#choose-setting", "lstm-adamw")
    assert "gradient norm" in picture.get_attribute("aria-label")
    onset = recorded("lstm-adamw").filter(pl.col("scenario") == "learning_rate_jump")["onset_step"]
    assert f"step {onset[0]}" in picture.get_attribute("aria-description")


@pytest.mark.parametrize(
    "route", ["#/nothing", "#/failure/nothing", "#/failure", "#/symptoms/nothing"]
)
def test_an_address_that_leads_nowhere_says_so(page_at, route):
    assert "There is no such" in page_at(route).locator("h1").inner_text()


def test_every_failure_opens(page_at):
    page = page_at("#/failures")
    for name, scenario in scenarios().items():
        page.evaluate("name => { location.hash = `#/failure/${name}` }", name)
        page.locator("main h1", has_text=scenario.title).wait_for()
        page.locator("section figure svg[role=img]").wait_for()


def of_symptom(*names: str) -> set[str]:
    """Scenarios of symptoms, by the declared rules."""
    found = {each["id"]: each for each in section("symptoms")["symptoms"]}
    causes = [cause for name in names for cause in found[name]["causes"]]
    return {scenario["id"] for cause in causes for scenario in cause["scenarios"]}


def ids(page: Any) -> set[str]:
    links = page.locator(".card h2 a")
    return set(links.evaluate_all("all => all.map(each => each.hash.split('/').pop())"))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("nan", lambda: of_symptom("nan")),
        ("oom", lambda: of_symptom("memory", "killed")),
        ("CUDA", lambda: of_symptom("memory", "error")),
        ("diverge", lambda: of_symptom("spike")),
        (
            "IndexError",
            lambda: set(recorded(REFERENCE).filter(error_type="IndexError")["scenario"]),
        ),
        ("hung", lambda: set(recorded(REFERENCE).filter(outcome="hung")["scenario"])),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_search_finds_what_people_call_a_symptom_an_outcome_or_an_error(page_at, asked, found):
    page = page_at("#/")
    page.get_by_label("Search symptoms").fill(asked)
    page.keyboard.press("Enter")
    page.locator("#count").wait_for()
    assert count(page) >= len(found()) > 0
    assert found() <= ids(page)


def test_a_search_finds_no_letters_inside_a_word(page_at):
    page = page_at("#/failures?q=oom")
    count(page)
    assert ids(page) == of_symptom("memory", "killed")


def test_a_symptom_leads_over_a_cause_and_its_run_to_what_distinguishes_it_and_mends_it(page_at):
    page = page_at("#/")
    page.get_by_role("link", name="The run hangs").click()
    page.locator(".candidate").first.wait_for()
    causes = next(each for each in section("symptoms")["symptoms"] if each["id"] == "hang")[
        "causes"
    ]
    assert page.locator(".candidate").count() == len(causes) > 1
    for place, cause in enumerate(causes):
        card = page.locator(".candidate").nth(place)
        known = section("symptoms")["causes"][cause["cause"]]
        text = card.inner_text().replace("\n", " ")
        for written in (
            known["title"],
            known["settle"][0]["tells"],
            known["remedies"][0]["change"],
        ):
            assert written.replace("`", "") in text
        card.scroll_into_view_if_needed()
        card.locator("svg[role=img]").wait_for()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("route", ["#/", "#/symptoms/spike"])
def test_no_label_of_an_axis_reaches_out_of_its_chart(page_at, route, viewport):
    page = page_at(route, viewport=viewport)
    for frame in page.locator(".drawn").all():
        frame.scroll_into_view_if_needed()
        frame.locator("svg.chart").wait_for()
    assert page.evaluate(BEFORE_A_CHART) == []


def test_on_a_phone_the_line_of_the_most_frequent_category_passes_no_name_of_a_method(page_at):
    page = page_at("#/", viewport=PHONE)
    chart = page.locator("figure .drawn")
    chart.scroll_into_view_if_needed()
    chart.locator("svg.chart").wait_for()
    boxes = "all => all.map(each => each.getBoundingClientRect().toJSON())"
    dashes = chart.locator("g[stroke-dasharray] line").evaluate_all(boxes)
    labels = {each["label"] for each in section("landing")["rows"]}
    names = [
        name for name in chart.locator("text").all() if name.text_content().rstrip("*‡§") in labels
    ]
    assert len(dashes) == len(names) == len(labels)
    for name in names:
        box = name.bounding_box()
        passed = [
            dash
            for dash in dashes
            if dash["top"] < box["y"] + box["height"] and dash["bottom"] > box["y"]
        ]
        assert not passed, name.text_content()


def test_an_answer_keeps_its_columns_and_a_keyboard_scrolls_it_sideways(page_at):
    page = page_at("#/answers", viewport=PHONE)
    terminal = page.locator(".terminal").first
    assert terminal.evaluate("each => each.scrollWidth > each.clientWidth")
    terminal.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)  # it scrolls smoothly
    assert terminal.evaluate("each => each.scrollLeft") > 0


def test_a_model_that_was_asked_once_has_one_answer_to_a_scenario_and_says_so(page_at):
    page = page_at("#/failure/learning_rate_jump")
    row = page.locator(".said tr", has_text=METHOD_LABELS[RECORDED_MODEL])
    assert ASKED_ONCE in row.inner_text()
    assert re.search(r"\b[01] of 1\b", row.inner_text())


def test_answers_of_the_tool_are_three_and_one_of_them_is_wrong(page_at):
    page = page_at("#/answers")
    assert page.locator(".terminal").count() == 3
    assert page.locator("section .verdict").all_inner_texts() == ["✓ right", "✓ right", "✗ wrong"]


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
