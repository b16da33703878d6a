// Confusion: what a method takes each category for, as a table of numbers that is shaded besides.
const confusion = (() => {
  const percentShort = (share) => `${decimals(100 * share, 0)} %`;

  function open(section, method, state) {
    const dialog = h(
      "dialog",
      { class: "sheet", "aria-labelledby": "confusion-title" },
      h("h2", { id: "confusion-title", tabindex: "-1" }, `What ${method.label} takes each category for`),
      matrix(section, method, state),
      perCategory(section, method, state),
      h(
        "p",
        {},
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close"),
      ),
    );
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.getElementById("main").append(dialog);
    dialog.showModal();
    dialog.querySelector("h2").focus();
  }

  function matrix(section, method, state) {
    const counts = section.confusions[state.text][method.id][state.seed];
    const answers = section.answers
      .map((name, index) => ({ name, index }))
      .filter(({ name }) => !(state.committed && name === "abstain"));
    const named = new Map(section.categories.map(({ id, ...names }) => [id, names]));
    named.set("abstain", { label: "Abstains", short: "abst." });
    const seeds = state.seed === "all" ? "all seeds" : `seed ${state.seed}`;
    const whole = state.committed ? "the answers that commit themselves" : "the scenarios of the category";
    return h(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": "Confusions" },
      h(
        "table",
        { class: "confusion" },
        h(
          "caption",
          {},
          `A row is the true category, a column the answer: the share of ${whole}, and below it ` +
            `scenarios, mean over ${section.repeats} repeats; ${seeds}.`,
        ),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "Category"),
            answers.map(({ name }) => h("th", { scope: "col", class: "number" }, label(named.get(name)))),
          ),
        ),
        h(
          "tbody",
          {},
          section.categories.map((category, row) => {
            const total = answers.reduce((sum, { index }) => sum + counts[row][index], 0);
            return h(
              "tr",
              {},
              h("th", { scope: "row" }, label(category)),
              answers.map(({ name, index }) => cell(counts[row][index], total, name === category.id)),
            );
          }),
        ),
      ),
    );
  }

  // A phone has room for the short name alone
  function label({ label: long, short }) {
    return [h("span", { class: "long" }, long), h("span", { class: "short" }, short)];
  }

  function cell(count, total, right) {
    const share = total > 0 ? count / total : null;
    return h(
      "td",
      {
        class: right ? "number shaded right" : "number shaded",
        style: `--share:${share ?? 0}`,
      },
      h("strong", {}, share === null ? "–" : percentShort(share)),
      h("span", { class: "mean" }, decimals(count, 1)),
    );
  }

  function perCategory(section, method, state) {
    const figures = methodTables.figuresOf(section, method, state);
    return h(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": "F1 by category" },
      h(
        "table",
        {},
        h("caption", {}, "F1 by category, per repeat and averaged"),
        h("thead", {}, h("tr", {}, [h("th", { scope: "col" }, "Category"), h("th", { scope: "col", class: "number" }, "F1")])),
        h(
          "tbody",
          {},
          section.categories.map(({ id, label }) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, label),
              h("td", { class: "number" }, interval(methodTables.estimate(figures[`f1_${id}`]))),
            ),
          ),
        ),
      ),
    );
  }

  return { open };
})();
