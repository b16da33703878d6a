// Methods: what each reaches, in groups that must not be ranked together; confusions on click; risk against coverage.
{
  const CURVES = ["improved_rules", "random_forest", "ebm", "invariants"];

  function stateOf(section, query) {
    const last = section.curves.coverage.length - 1;
    const place = Number.parseInt(query.get("coverage") ?? "", 10);
    const text = query.get("text");
    return {
      text: section.feature_sets.some(({ id }) => id === text) ? text : section.primary,
      simulated: query.get("simulated") === "1",
      coverage: Number.isInteger(place) && place >= 0 && place <= last ? place : Math.round(last / 2),
      curves: query.get("curves")?.split(",") ?? CURVES,
    };
  }

  function queryOf(state, section) {
    const query = new URLSearchParams();
    if (state.text !== section.primary) query.set("text", state.text);
    if (state.simulated) query.set("simulated", "1");
    query.set("coverage", String(state.coverage));
    if (state.curves.join() !== CURVES.join()) query.set("curves", state.curves.join());
    return query;
  }

  function columnsOf(open) {
    const figure = (name, label) => ({
      label,
      value: (row) => row.figures?.[name]?.[0] ?? null,
      cell: ({ figures }) => (!figures ? "no answers recorded" : figures[name] ? interval(estimate(figures[name])) : "never committed"),
      numeric: true,
    });
    return [
      {
        label: "Method",
        value: (row) => row.label,
        cell: (row) =>
          row.figures ? h("button", { type: "button", class: "opens", "aria-haspopup": "dialog", "data-method": row.id, onclick: () => open(row) }, row.label) : row.label,
        rowHeader: true,
      },
      figure("accuracy", "Accuracy"),
      {
        label: "Reported",
        value: (row) => row.reported?.value ?? null,
        cell: (row) => interval(row.reported),
        numeric: true,
      },
      figure("abstention_rate", "Abstains"),
      figure("accuracy_when_committed", "Right when committed"),
      figure("macro_f1", "Macro F1"),
      { label: "Reads", value: readsText },
    ];
  }

  function tablesOf(section, state) {
    const columns = columnsOf((method) => confusion.open(section, method, state));
    const shown = section.methods.filter((method) => state.simulated || !method.told);
    const rows = shown.map((method) => ({ ...method, figures: section.figures[state.text][method.id] }));
    return GROUPS.filter(({ has }) => rows.some(has)).map(({ name, note, has }) =>
      h(
        "section",
        { "data-group": name },
        h("h2", {}, name),
        h("p", { class: "note" }, note),
        sortableTable(columns, rows.filter(has), {
          caption:
            `${name}: ${section.scenarios} scenarios, ${plural(section.seeds, "seed")}, ${plural(section.repeats, "repeat")} of the folds. ` +
            `In brackets: ${100 * section.confidence} % intervals over scenarios and seeds.`,
          sort: 1,
          descending: true,
        }),
      ),
    );
  }

  views.methods = {
    render(container, route) {
      const section = data("methods");
      const state = stateOf(section, route.query);
      const tables = h("div", { class: "methods-tables" });
      const curves = h("section", { class: "risk" });
      const remember = () => replaceQuery(queryOf(state, section));
      const redraw = () => {
        tables.replaceChildren(...tablesOf(section, state));
        risk.draw(curves, section, state, remember);
      };
      const choice = (type, name, label, checked, change) =>
        h(
          "label",
          { class: "choice" },
          h("input", {
            type,
            name,
            checked,
            onchange: (event) => {
              change(event.target.checked);
              redraw();
              remember();
              say(`${label}: ${event.target.checked ? "shown" : "hidden"}.`);
            },
          }),
          ` ${label}`,
        );
      container.append(
        h("h1", {}, "Methods"),
        h(
          "p",
          {},
          `How often each method names the right category (of ${section.categories.length}) of failures of ${section.scenarios} scenarios. ` +
            "A method's name opens what it takes each category for; a heading sorts.",
        ),
        h(
          "form",
          { class: "switches", onsubmit: (event) => event.preventDefault() },
          h(
            "fieldset",
            { class: "choices" },
            h("legend", {}, "Features"),
            section.feature_sets.map(({ id, label }) => choice("radio", "text", label, state.text === id, () => { state.text = id; })),
          ),
          h(
            "fieldset",
            { class: "choices" },
            h("legend", {}, "Methods"),
            choice("checkbox", "simulated", "show methods that are given the true category", state.simulated, (on) => { state.simulated = on; }),
          ),
        ),
        tables,
        curves,
      );
      redraw();
    },
  };
}
