// Reported against measured: each number of the original, ours, and how far it agrees with itself.
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
      row.note ? h("p", { class: "aside" }, row.note) : null,
    );
  }

  function auditCell(row) {
    const { verdicts } = data("reported");
    if (!row.audit.length) return verdicts[row.verdict];
    return h(
      "details",
      {},
      h("summary", {}, verdicts[row.verdict]),
      row.audit.map((claim) =>
        h(
          "p",
          { class: "aside" },
          `${claim.quantity}: ${claim.printed}. By its own figures: ${claim.computed} (${verdicts[claim.verdict]}).`,
          claim.note ? ` ${claim.note}` : "",
        ),
      ),
    );
  }

  const COLUMNS = [
    { label: "Quantity", value: (row) => row.quantity, cell: (row) => row.quantity, rowHeader: true },
    { label: "The original", value: (row) => (typeof row.printed[0] === "number" ? row.printed[0] : null), cell: printedText, numeric: true },
    { label: "Ours", value: (row) => row.ours[0]?.value ?? null, cell: oursCell, numeric: false },
    { label: "Place", value: (row) => row.place },
    { label: "The original against itself", value: (row) => row.verdict, cell: auditCell },
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

  // Two units, named apart: rows, which have one verdict each, and claims, which bear on several rows.
  function countedText(rows) {
    const { verdicts, counts } = data("reported");
    const claims = new Map(rows.flatMap((row) => row.audit.map((claim) => [claim.claim, claim])));
    const tally = (entries) =>
      Object.entries(verdicts)
        .map(([verdict, label]) => [entries.filter((entry) => entry.verdict === verdict).length, label])
        .filter(([count]) => count)
        .map(([count, label]) => `${count} ${label}`)
        .join(", ") || "none";
    return (
      `${rows.length} of ${plural(counts.rows, "row")}, ${rows.filter((row) => row.ours.length).length} with a number of ours. ` +
      `The original against itself: of these rows, ${tally(rows)}; ` +
      `of the ${plural(claims.size, "claim")} that bear on them, each counted once, ${tally([...claims.values()])}.`
    );
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
        counted.textContent = countedText(rows);
        table.replaceChildren(
          rows.length
            ? sortableTable(COLUMNS, rows, { caption: "Numbers of the original beside ours" })
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
          `${plural(counts.numbers, "row")} are numbers, intervals and series that the original prints; ` +
            `${counts.rows - counts.numbers} more are statements of its text. Where no number of ours is of the same quantity, the row says why.`,
        ),
        h(
          "p",
          {},
          `The last column is of the original alone: ${plural(counts.claims, "claim")} tested by its own figures. It says nothing of ours. ` +
            "A row is not consistent if one of the claims that bear on it is not; a verdict opens what was computed.",
        ),
        h(
          "p",
          { class: "note" },
          "Ours are other failures, of small models: a difference is no error of the original. " +
            `In brackets: ${100 * data("methods").confidence} % intervals of ours.`,
        ),
        h(
          "form",
          { class: "fields", onsubmit: (event) => event.preventDefault() },
          select("section", "Place in the original", [[ANY, "everywhere"], ...sections.map((name) => [name, name])], state.section, set("section")),
          select("verdict", "The original against itself", [[ANY, "any"], ...Object.entries(section.verdicts)], state.verdict, set("verdict")),
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
