// Failures: a card for every scenario that the filters let through, so many at a time.

let lastFilter = new URLSearchParams();

const AT_ONCE = 12;

views.failures = {
  render(container, route) {
    const index = data("failures");
    const state = filterState(route.query);
    const count = h("p", { class: "count", id: "count" });
    const grid = h("div", { class: "cards" });
    const named = h("p", {});
    const more = h("button", { type: "button", class: "quiet", id: "more", onclick: () => showMore(true) });
    let form;
    let hits;

    function showMore(moveFocus) {
      const first = grid.childElementCount;
      grid.append(...hits.slice(first, first + AT_ONCE).map((card) => failureCard(card, state.setting)));
      const left = hits.length - grid.childElementCount;
      more.hidden = !left;
      more.textContent = `Show more (${left} left)`;
      if (moveFocus) grid.children[first].querySelector("a").focus();
    }

    function draw() {
      hits = found(state);
      lastFilter = filterQuery(state);
      count.textContent = `${hits.length} of ${plural(index.cards.length, "scenario")}`;
      const symptoms = state.q ? data("symptoms").symptoms.filter((symptom) => hasWords(symptomText(symptom), state.q)) : [];
      named.replaceChildren(...(symptoms.length ? ["Symptoms of that name: ", symptoms.map(({ id, title }, place) => [place ? ", " : "", h("a", { href: hashOf("symptoms", [id]) }, title)])].flat(2) : []));
      grid.replaceChildren(...(hits.length ? [] : [h("p", { class: "nothing" }, "No scenario is left. Take a filter away, or clear all of them.")]));
      if (hits.length) showMore(false);
      else more.hidden = true;
      say(`${hits.length} of ${index.cards.length} scenarios found.`);
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
      named,
      h("div", { class: "counted" }, count, runLegend()),
      grid,
      more,
      h("p", { class: "caption" }, index.thinning),
    );
    draw();
  },
};
