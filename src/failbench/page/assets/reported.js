// Reported against measured: each number of the paper, ours, and what the audit says of it.
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
      row.ours.map((estimate) => h("div", { class: "ours", title: estimate.where }, oursText(estimate, row.ours_unit))),
      row.note ? h("p", { class: "aside" }, row.note) : null,
    );
  }

  const MARKS = { consistent: "✓", inconsistent: "✗", "cannot be checked": "?", "not audited": "–" };
  const CLASSES = { consistent: "right", inconsistent: "wrong", "cannot be checked": "abstained" };

  function verdictText(verdict) {
    return h("span", { class: `verdict ${CLASSES[verdict] ?? ""}` }, `${MARKS[verdict]} ${verdict}`);
  }

  function auditCell(row) {
    if (!row.audit.length) return verdictText(row.verdict);
    return h(
      "details",
      {},
      h("summary", {}, verdictText(row.verdict)),
      row.audit.map((claim) =>
        h(
          "p",
          { class: "aside" },
          `${claim.quantity}: ${claim.printed}. By its own figures: ${claim.computed} (${claim.verdict}).`,
          claim.note ? ` ${claim.note}` : "",
        ),
      ),
    );
  }

  const COLUMNS = [
    { label: "Quantity", value: (row) => row.quantity, cell: (row) => row.quantity, rowHeader: true },
    { label: "Paper", value: (row) => (typeof row.printed[0] === "number" ? row.printed[0] : null), cell: printedText, numeric: true },
    { label: "Ours", value: (row) => row.ours[0]?.value ?? null, cell: oursCell, numeric: false },
    { label: "Audit", value: (row) => row.verdict, cell: auditCell },
    { label: "Place", value: (row) => row.place },
  ];

  function stateOf(query) {
    return Object.fromEntries(
      ["section", "verdict", "ours", "find"].map((name) => [name, query.get(name) ?? ANY]),
    );
  }

  function kept(rows, state) {
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
    return rows.filter((row) => {
      if (state.section && !row.sections.includes(state.section)) return false;
      if (state.verdict && row.verdict !== state.verdict) return false;
      if (state.ours === WITH && !row.ours.length) return false;
      if (state.ours === WITHOUT && row.ours.length) return false;
      const text = `${row.quantity} ${row.place} ${row.note} ${printedText(row)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  const KINDS = ["Abstract", "Section", "Table", "Figure", "Equation"];

  function inOrder(sections) {
    const key = (name) => {
      const [kind, number = ""] = name.split(" ");
      return [KINDS.indexOf(kind), ...number.split(".").map(Number)];
    };
    return [...sections].sort((a, b) => {
      const [left, right] = [key(a), key(b)];
      for (let i = 0; i < Math.max(left.length, right.length); i += 1) {
        const difference = (left[i] ?? -1) - (right[i] ?? -1);
        if (difference) return difference;
      }
      return 0;
    });
  }

  function select(id, label, options, value, onchange) {
    return h(
      "div",
      { class: "field" },
      h("label", { for: id }, label),
      h(
        "select",
        { id, onchange: (event) => onchange(event.target.value) },
        options.map(([option, text]) => h("option", { value: option, selected: option === value }, text)),
      ),
    );
  }

  views.reported = {
    title: "Reported against measured",
    render(container, route) {
      const section = data("reported");
      const state = stateOf(route.query);
      const table = h("div", { class: "reported" });
      const counted = h("p", { id: "counted" });
      const redraw = () => {
        const rows = kept(section.rows, state);
        const tally = section.verdicts
          .map((verdict) => [verdict, rows.filter((row) => row.verdict === verdict).length])
          .filter(([, count]) => count)
          .map(([verdict, count]) => `${count} ${verdict}`);
        counted.textContent = `${rows.length} of ${plural(section.rows.length, "entry", "entries")}: ${rows.filter((row) => row.ours.length).length} with a number of ours; ${tally.join(", ") || "none"}.`;
        table.replaceChildren(
          rows.length
            ? sortableTable(COLUMNS, rows, { caption: "Numbers of the paper, ours, and the audit's verdict" })
            : h("p", { class: "nothing" }, "Nothing is left by these filters."),
        );
      };
      const set = (name) => (value) => {
        state[name] = value;
        redraw();
        say(counted.textContent);
        replaceQuery(new URLSearchParams(Object.entries(state).filter(([, text]) => text)));
      };
      const { counts } = section;
      const sections = inOrder(new Set(section.rows.flatMap((row) => row.sections)));
      container.append(
        h("h1", {}, "Reported against measured"),
        h(
          "p",
          {},
          `${plural(counts.numbers, "entry", "entries")} that the paper prints as a number, an interval or a series; ` +
            `${counts.with_counterpart} have a number of ours beside them, and each other one says why not. ` +
            `An audit of ${counts.claims} claims by the paper's own figures finds ` +
            `${counts.verdicts.inconsistent ?? 0} inconsistent. An entry bears the worst verdict of the claims that test it; ` +
            "a verdict opens what was computed.",
        ),
        h(
          "p",
          { class: "note" },
          "Ours are other failures, of small models: a difference is no error of the paper. " +
            `In brackets: ${100 * data("methods").confidence} % intervals of ours.`,
        ),
        h(
          "form",
          { class: "fields", onsubmit: (event) => event.preventDefault() },
          select("section", "Place in the paper", [[ANY, "everywhere"], ...sections.map((name) => [name, name])], state.section, set("section")),
          select("verdict", "Verdict of the audit", [[ANY, "any"], ...section.verdicts.map((name) => [name, name])], state.verdict, set("verdict")),
          select("ours", "Number of ours", [[ANY, "with or without"], [WITH, "with"], [WITHOUT, "without"]], state.ours, set("ours")),
          h(
            "div",
            { class: "field" },
            h("label", { for: "find" }, "Search"),
            h("input", { type: "search", id: "find", value: state.find, oninput: (event) => set("find")(event.target.value) }),
          ),
        ),
        counted,
        table,
      );
      redraw();
    },
  };
}
