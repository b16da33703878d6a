// Methods: tables with switches, confusions on click, and risk against coverage.
{
  const CURVES = ["improved_rules", "random_forest", "ebm", "invariants"];

  function stateOf(section, query) {
    const seeds = ["all", ...section.seeds.map(String)];
    const texts = section.feature_sets.map(({ id }) => id);
    const oneOf = (value, allowed) => (allowed.includes(value) ? value : null);
    const last = section.curves.coverage.length - 1;
    const place = Number.parseInt(query.get("coverage") ?? "", 10);
    return {
      text: oneOf(query.get("text"), texts) ?? section.primary,
      seed: oneOf(query.get("seed"), seeds) ?? "all",
      committed: query.get("committed") === "1",
      simulated: query.get("simulated") === "1",
      coverage: Number.isInteger(place) && place >= 0 && place <= last ? place : Math.round(last / 2),
      curves: query.get("curves")?.split(",") ?? CURVES,
    };
  }

  function queryOf(state, section) {
    const query = new URLSearchParams();
    if (state.text !== section.primary) query.set("text", state.text);
    if (state.seed !== "all") query.set("seed", state.seed);
    if (state.committed) query.set("committed", "1");
    if (state.simulated) query.set("simulated", "1");
    query.set("coverage", String(state.coverage));
    if (state.curves.join() !== CURVES.join()) query.set("curves", state.curves.join());
    return query;
  }

  function radios(legend, name, options, chosen, onchange) {
    return h(
      "fieldset",
      { class: "choices" },
      h("legend", {}, legend),
      options.map(({ id, label }) =>
        h(
          "label",
          { class: "choice" },
          h("input", {
            type: "radio",
            name,
            value: id,
            checked: id === chosen,
            onchange: () => onchange(id),
          }),
          ` ${label}`,
        ),
      ),
    );
  }

  function tick(label, name, checked, onchange) {
    return h(
      "label",
      { class: "choice" },
      h("input", { type: "checkbox", name, checked, onchange: (event) => onchange(event.target.checked) }),
      ` ${label}`,
    );
  }

  views.methods = {
    title: "Methods",
    render(container, route) {
      const section = data("methods");
      const state = stateOf(section, route.query);
      const tables = h("div", { class: "methods-tables" });
      const curves = h("section", { class: "risk" });
      const remember = () => replaceQuery(queryOf(state, section));
      const redraw = () => {
        methodTables.draw(tables, section, state, (method) => confusion.open(section, method, state));
        risk.draw(curves, section, state, remember);
      };
      const set = (name, words) => (value) => {
        state[name] = value;
        redraw();
        remember();
        say(words(value));
      };
      const textLabel = new Map(section.feature_sets.map(({ id, label }) => [id, label]));
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
          radios(
            "Features",
            "text",
            section.feature_sets,
            state.text,
            set("text", (id) => `Features: ${textLabel.get(id)}.`),
          ),
          radios(
            "Seed",
            "seed",
            [{ id: "all", label: "all" }, ...section.seeds.map((seed) => ({ id: String(seed), label: String(seed) }))],
            state.seed,
            set("seed", (id) => (id === "all" ? "All seeds." : `Seed ${id}.`)),
          ),
          h(
            "fieldset",
            { class: "choices" },
            h("legend", {}, "Answers"),
            tick("committed answers only", "committed", state.committed, set("committed", (on) => (on ? "Committed answers only." : "All answers."))),
            tick("show methods that are given the true category", "simulated", state.simulated, set("simulated", (on) => (on ? "Simulated methods are shown." : "Simulated methods are hidden."))),
          ),
        ),
        tables,
        curves,
      );
      redraw();
    },
  };
}
