from page_sections import estimate, percent, section

ROUTE = "#/methods"
HELD_OUT = "Held out"
DEVELOPMENT = "Development"
GIVEN = "Given the true category"


def rows_of(page, group=HELD_OUT):
    """Cells of the rows of one table, by the method's label."""
    rows = page.locator(f'[data-group="{group}"] tbody tr')
    return {
        row[0]: row[1:]
        for row in rows.evaluate_all(
            "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
        )
    }


def expect_column(page, column, text, metric):
    methods = {method["label"]: method["id"] for method in section("methods")["methods"]}
    figures = section("methods")["figures"][text]
    compared = 0
    for label, cells in rows_of(page).items():
        of_method = figures.get(methods[label])
        if of_method is None:
            assert cells[column] == "no answers recorded"
        else:
            assert cells[column] == estimate(*of_method[metric][:3]), label
            compared += 1
    assert compared > 10


def test_every_number_of_the_table_is_python_s(page_at):
    page = page_at(ROUTE)
    columns = {0: "accuracy", 2: "abstention_rate", 3: "accuracy_when_committed", 4: "macro_f1"}
    for column, metric in columns.items():
        expect_column(page, column, "19", metric)
    assert rows_of(page)["Random forest"][1] == "95.7 [87.0, 100.0] %"


def test_keywords_switch_the_numbers_and_stay_in_the_address(page_at):
    page = page_at(ROUTE)
    page.get_by_label("19 + keywords").check()
    expect_column(page, 0, "19+keywords", "accuracy")
    page.reload()
    expect_column(page, 0, "19+keywords", "accuracy")


def test_methods_that_saw_the_scenarios_stand_apart_and_those_that_are_told_are_hidden(page_at):
    page = page_at(ROUTE)
    assert "Simulated human" not in page.locator("main").inner_text()
    page.get_by_label("show methods that are given the true category").check()
    assert set(rows_of(page, GIVEN)) == {"Simulated human", "Hybrid, three-way"}
    assert "Monitor rules" in rows_of(page, DEVELOPMENT)
    assert "Monitor rules" not in rows_of(page)
    assert "in-sample" in page.locator(f'[data-group="{DEVELOPMENT}"] .note').inner_text()


def test_the_slider_says_how_often_the_surest_answers_are_wrong(page_at):
    page = page_at(ROUTE)
    curves = section("methods")["curves"]
    slider = page.get_by_label("Coverage: the surest answers")
    slider.focus()
    for key, place in (("Home", 0), ("End", len(curves["coverage"]) - 1), ("ArrowLeft", -2)):
        page.keyboard.press(key)
        coverage = curves["coverage"][place]
        assert page.locator("output.at").inner_text() == f"{100 * coverage:.0f} %"
        for method in ("random_forest", "ebm"):
            shown = page.locator(f'[data-risk="{method}"]').inner_text()
            assert shown == percent(curves["risk"]["19"][method][place])
    assert slider.get_attribute("aria-valuetext") == f"{100 * curves['coverage'][-2]:.0f} %"


def test_no_root_cause_of_a_log_is_right_more_often_than_its_category():
    answers = [log for detail in section("failure").values() for log in detail["logs"]]
    assert len(answers) > 100
    assert all(log["cause_right"] <= log["right"] for log in answers)


REPORTED = "#/reported"


def shown(page):
    return page.locator(".reported tbody tr")


def test_counts_above_a_table_are_those_of_its_rows_and_of_the_section(page_at):
    page = page_at("#/audit")
    rows = section("audit")["rows"]
    assert shown(page).count() == len(rows)
    for counted in (page.locator("main p").first, page.locator("#counted")):
        for verdict, label in section("audit")["verdicts"].items():
            count = sum(row["verdict"] == verdict for row in rows)
            assert f"{count} {label}" in counted.inner_text()
    page.get_by_label("Verdict").select_option("inconsistent")
    wrong = [row for row in rows if row["verdict"] == "inconsistent"]
    assert shown(page).count() == len(wrong)
    page.get_by_label("Place in the original").select_option("Section 6.1")
    left = [row for row in wrong if "Section 6.1" in row["sections"]]
    assert 0 < shown(page).count() == len(left) < len(wrong)
    assert f"{len(left)} of {len(rows)} claims" in page.locator("#counted").inner_text()
    page.reload()
    assert shown(page).count() == len(left)


def test_no_verdict_of_the_audit_stands_beside_a_number_of_ours(page_at):
    page = page_at(REPORTED)
    rows = section("reported")
    assert shown(page).count() == len(rows)
    assert "consistent" not in page.locator(".reported").inner_text()
    page.get_by_label("Number of ours").select_option("without")
    assert shown(page).count() == sum(not row["ours"] for row in rows)
    assert f"{shown(page).count()} of {len(rows)} rows" in page.locator("#counted").inner_text()


def test_a_row_has_the_original_s_number_and_ours(page_at):
    page = page_at(REPORTED)
    page.get_by_label("Search").fill("Simple Rules: accuracy")
    path = "tables.methods.rows.simple_rules.accuracy"
    (entry,) = [row for row in section("reported") if row["path"] == path]
    text = shown(page).first.inner_text()
    assert "57.1 %" in text
    assert estimate(*(entry["ours"][0][key] for key in ("value", "ci_low", "ci_high"))) in text
