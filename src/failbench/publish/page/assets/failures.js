// Failures: a card for every scenario that the filters let through.

let lastFilter = new URLSearchParams();

views.failures = {
  title: "Failures",
  render(container, route) {
    const index = data("failures");
    const state = filterState(route.query);
    const count = h("p", { class: "count", id: "count" });
    const grid = h("div", { class: "cards" });
    let form;

    function draw() {
      const hits = found(state);
      lastFilter = filterQuery(state);
      count.textContent = `${hits.length} of ${plural(index.cards.length, "scenario")}`;
      grid.replaceChildren(
        ...(hits.length
          ? hits.map((card) => failureCard(card, state.setting))
          : [h("p", { class: "nothing" }, "No scenario is left. Take a filter away, or clear all of them.")]),
      );
      say(`${hits.length} of ${index.cards.length} scenarios shown.`);
    }

    function change(name, value) {
      state[name] = value;
      replaceQuery(filterQuery(state));
      draw();
    }

    function reset() {
      for (const name of FILTERS) state[name] = "";
      state.setting = index.reference;
      replaceQuery(filterQuery(state));
      const fresh = filterForm(state, change, reset);
      form.replaceWith(fresh);
      form = fresh;
      draw();
      document.getElementById("filter-q").focus();
    }

    form = filterForm(state, change, reset);
    container.append(
      h("h1", {}, "Failures"),
      h(
        "p",
        {},
        "Each scenario is one cause, injected into real training runs. A failing run is drawn over its twin: the same code, seed, " +
          "data and configuration with the fault never switched on.",
      ),
      form,
      h("div", { class: "counted" }, count, runLegend()),
      grid,
      h("p", { class: "caption" }, index.thinning),
    );
    draw();
  },
};
