// Reported: each number of the original beside ours. Audit: apart from ours, the original against itself.
{
  const ANY = "";
  const WITH = "with";
  const WITHOUT = "without";

  // Digits as they are given: 0.8696 is 86.96 %
  function exact(x) {
    return String(Number(x.toPrecision(10))).replace("-", "−");
  }

  function printedText(row) {
    const percentages = row.unit === "fraction" || row.unit === "points";
    const numbers = row.printed.map((x) => {
      if (typeof x !== "number") return String(x);
      if (percentages) return exact(100 * x);
      return Math.abs(x) >= 10_000 && Math.abs(x) < 1e10 ? x.toLocaleString("en") : exact(x);
    });
    if (!numbers.length) return "–";
    const unit = { fraction: " %", points: " points", count: "", number: "", statement: "" }[row.unit];
    return `${numbers.join(", ")}${unit ?? ` ${row.unit}`}`;
  }

  function oursText(estimate, unit) {
    if (unit === "fraction") return interval(estimate);
    if (unit === "points") return interval(estimate).replace(" %", " points");
    const digits = (x) => (Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : exact(Number(x.toPrecision(4))));
    const { value, ci_low: low, ci_high: high } = estimate;
    return low === undefined ? digits(value) : `${digits(value)} [${digits(low)}, ${digits(high)}]`;
  }

  function oursCell(row) {
    return h(
      "div",
      {},
      row.ours.map((estimate) => h("div", { class: "ours", title: estimate.where }, oursText(estimate, row.unit))),
      row.note ? h("p", { class: "aside" }, marked(row.note)) : null,
    );
  }

  const REPORTED = [
    { label: "Quantity", value: (row) => row.quantity, rowHeader: true },
    { label: "The original", value: (row) => (typeof row.printed[0] === "number" ? row.printed[0] : null), cell: printedText, numeric: true },
    { label: "Ours", value: (row) => row.ours[0]?.value ?? null, cell: oursCell },
    { label: "Place", value: (row) => row.place },
  ];

  const AUDITED = [
    { label: "Claim of the original", value: (row) => row.quantity, rowHeader: true },
    { label: "It prints", value: (row) => row.printed },
    { label: "By its own figures", value: (row) => row.computed, cell: (row) => h("div", {}, row.computed, row.note ? h("p", { class: "aside" }, row.note) : null) },
    { label: "Verdict", value: (row) => data("audit").verdicts[row.verdict] },
    { label: "Place", value: (row) => row.place },
  ];

  // A table with filters: view {title, intro, rows, columns, choose: {name: [label, options, keep(row, value)]}, text(row), counted(rows)}.
  function filtered(container, route, view) {
    const kept = view.choose;
    const names = ["section", ...Object.keys(kept), "find"];
    const state = Object.fromEntries(names.map((name) => [name, route.query.get(name) ?? ANY]));
    const table = h("div", { class: "reported" });
    const counted = h("p", { id: "counted" });
    const passes = (row) =>
      (!state.section || row.sections.includes(state.section)) &&
      Object.entries(kept).every(([name, [, , keep]]) => !state[name] || keep(row, state[name])) &&
      hasWords(view.text(row), state.find);
    const redraw = () => {
      const rows = view.rows.filter(passes);
      counted.textContent = view.counted(rows);
      table.replaceChildren(rows.length ? sortableTable(view.columns, rows, { caption: view.caption }) : h("p", { class: "nothing" }, "Nothing is left by these filters."));
    };
    const set = (name) => (value) => {
      state[name] = value;
      redraw();
      say(counted.textContent);
      replaceQuery(new URLSearchParams(Object.entries(state).filter(([, text]) => text)));
    };
    const sections = [...new Set(view.rows.flatMap((row) => row.sections))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    container.append(
      h("h1", {}, view.title),
      ...view.intro.map((text) => h("p", {}, text)),
      h("p", { class: "note" }, view.note),
      h(
        "form",
        { class: "fields", onsubmit: (event) => event.preventDefault() },
        chooser("section", "Place in the original", [[ANY, "everywhere"], ...sections.map((name) => [name, name])], state.section, set("section")),
        Object.entries(kept).map(([name, [label, options]]) => chooser(name, label, [[ANY, "any"], ...options], state[name], set(name))),
        h("div", { class: "field" }, h("label", { for: "find" }, "Search"), h("input", { type: "search", id: "find", value: state.find, oninput: (event) => set("find")(event.target.value) })),
      ),
      counted,
      table,
    );
    redraw();
  }

  views.reported = {
    render(container, route) {
      const rows = data("reported");
      const withOurs = (some) => some.filter((row) => row.ours.length).length;
      filtered(container, route, {
        title: "Reported against measured",
        intro: [
          `The original prints ${plural(rows.length, "number, interval or series", "numbers, intervals and series")}; beside ${withOurs(rows)} stands a number of ours. ` +
            "Where no number of ours is of the same quantity, the row gives the reason.",
        ],
        note:
          "Ours are other failures, of small models: a difference is no error of the original. " +
          `In brackets: ${100 * data("methods").confidence} % intervals of ours.`,
        rows,
        columns: REPORTED,
        caption: "Numbers of the original beside ours",
        choose: { ours: ["Number of ours", [[WITH, "with"], [WITHOUT, "without"]], (row, value) => (value === WITH) === Boolean(row.ours.length)] },
        text: (row) => [row.quantity, row.place, row.note, printedText(row)].join(" "),
        counted: (some) => `${some.length} of ${plural(rows.length, "row")}, ${withOurs(some)} with a number of ours.`,
      });
    },
  };

  views.audit = {
    render(container, route) {
      const { rows, verdicts } = data("audit");
      const tally = (some) =>
        Object.entries(verdicts)
          .map(([verdict, label]) => `${some.filter((row) => row.verdict === verdict).length} ${label}`)
          .join(", ");
      filtered(container, route, {
        title: "The original against itself",
        intro: [`${plural(rows.length, "claim")} of the original were tested by its own figures: ${tally(rows)}.`],
        note: "No number of ours is in this table. A verdict is about the original and its own figures, never about our results.",
        rows,
        columns: AUDITED,
        caption: "Claims of the original, each once",
        choose: { verdict: ["Verdict", Object.entries(verdicts), (row, value) => row.verdict === value] },
        text: (row) => [row.quantity, row.place, row.printed, row.computed, row.note].join(" "),
        counted: (some) => `${some.length} of ${plural(rows.length, "claim")}: ${tally(some)}.`,
      });
    },
  };
}
