from page_sections import estimate, section

ROUTE = "#/reported"


def shown(page):
    return page.locator(".reported tbody tr")


def kept(**wanted):
    """How many entries of the section a filter leaves."""
    rows = section("reported")["rows"]
    return sum(
        ("place" not in wanted or wanted["place"] in row["sections"])
        and ("verdict" not in wanted or row["verdict"] == wanted["verdict"])
        and ("ours" not in wanted or bool(row["ours"]) == wanted["ours"])
        for row in rows
    )


def test_filters_leave_what_they_say(page_at):
    page = page_at(ROUTE)
    page.get_by_label("Place in the original").select_option("Section 6.1")
    assert shown(page).count() == kept(place="Section 6.1")
    page.get_by_label("Place in the original").select_option("")
    page.get_by_label("The original against itself").select_option("inconsistent")
    assert shown(page).count() == kept(verdict="inconsistent")
    page.get_by_label("Number of ours").select_option("without")
    assert shown(page).count() == kept(verdict="inconsistent", ours=False)
    assert f"{kept(verdict='inconsistent', ours=False)} of" in page.locator("#counted").inner_text()
    page.reload()
    assert shown(page).count() == kept(verdict="inconsistent", ours=False)


def test_a_row_has_the_paper_s_number_ours_and_the_verdict(page_at):
    page = page_at(ROUTE)
    page.get_by_label("Search").fill("Simple Rules: accuracy")
    row = shown(page).first
    (entry,) = [
        row
        for row in section("reported")["rows"]
        if row["path"] == "tables.methods.rows.simple_rules.accuracy"
    ]
    ours = entry["ours"][0]
    text = row.inner_text()
    assert "57.1 %" in text
    assert estimate(*(ours[key] for key in ("value", "ci_low", "ci_high"))) in text
    assert section("reported")["verdicts"][entry["verdict"]] in text
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "By its own figures" in row.inner_text()
