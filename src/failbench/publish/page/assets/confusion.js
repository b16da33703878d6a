// Confusion: what a method takes each category for, as a table of numbers that is shaded besides.
const confusion = (() => {
  function open(section, method, state) {
    const dialog = h(
      "dialog",
      { class: "sheet", "aria-labelledby": "confusion-title" },
      h("h2", { id: "confusion-title", tabindex: "-1" }, `What ${method.label} takes each category for`),
      matrix(section, section.confusions[state.text][method.id]),
      sortableTable(
        [
          { label: "Category", value: (category) => category.label, rowHeader: true },
          { label: "F1", value: ({ id }) => method.figures[`f1_${id}`][0], cell: ({ id }) => interval(estimate(method.figures[`f1_${id}`])), numeric: true },
        ],
        section.categories,
        { caption: "F1 by category, per repeat and averaged" },
      ),
      h("p", {}, h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close")),
    );
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.getElementById("main").append(dialog);
    dialog.showModal();
    dialog.querySelector("h2").focus();
  }

  function matrix(section, counts) {
    const named = new Map(section.categories.map(({ id, ...names }) => [id, names]));
    named.set("abstain", { label: "Abstains", short: "abst." });
    return h(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": "Confusions" },
      h(
        "table",
        { class: "confusion" },
        h(
          "caption",
          {},
          "A row is the true category, a column the answer: the share of the scenarios of the category, and below it " +
            `scenarios, mean over ${section.repeats} repeats and all seeds.`,
        ),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Category"), section.answers.map((name) => h("th", { scope: "col", class: "number" }, names(named.get(name)))))),
        h(
          "tbody",
          {},
          section.categories.map((category, row) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, names(category)),
              section.answers.map((name, column) => cell(counts[row][column], d3.sum(counts[row]), name === category.id)),
            ),
          ),
        ),
      ),
    );
  }

  // A phone has room for the short name alone
  function names({ label, short: brief }) {
    return [h("span", { class: "long" }, label), h("span", { class: "short" }, brief)];
  }

  function cell(count, total, right) {
    return h(
      "td",
      { class: right ? "number shaded right" : "number shaded", style: `--share:${count / total}` },
      h("strong", {}, `${decimals((100 * count) / total, 0)} %`),
      h("span", { class: "mean" }, decimals(count, 1)),
    );
  }

  return { open };
})();
