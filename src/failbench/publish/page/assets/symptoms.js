// Symptoms: what was seen, the causes that show it, what distinguishes them, and its remedy.

views.symptoms = {
  render(container, route) {
    const symptom = data("symptoms").symptoms.find((each) => each.id === route.rest[0]);
    if (symptom) return renderSymptom(container, symptom);
    container.append(
      h("h1", {}, route.rest.length ? "There is no such symptom" : "What did you see?"),
      h("p", {}, "A symptom belongs to a scenario by what its recorded failing runs show, by rules on outcome, error and curves against the twin."),
      searchForm(),
      symptomList(),
    );
  },
};

function symptomList() {
  return h(
    "ul",
    { class: "doors symptoms" },
    data("symptoms").symptoms.map(({ id, title, seen, causes }) =>
      h("li", {}, h("a", { href: hashOf("symptoms", [id]) }, h("strong", {}, title), h("span", {}, seen), h("span", { class: "marks" }, plural(causes.length, "candidate cause")))),
    ),
  );
}

function searchForm() {
  const input = h("input", { type: "search", id: "search", name: "q", placeholder: "nan, oom, CUDA, diverge, …" });
  const go = (event) => {
    event.preventDefault();
    location.hash = hashOf("failures", [], new URLSearchParams({ q: input.value }));
  };
  return h(
    "form",
    { class: "fields", role: "search", onsubmit: go },
    h("div", { class: "field text" }, h("label", { for: "search" }, "Search symptoms, causes and error texts"), input),
    h("button", { class: "quiet" }, "Search"),
  );
}

function renderSymptom(container, symptom) {
  const { causes, least } = data("symptoms");
  container.append(
    h("nav", { class: "beside", "aria-label": "Other symptoms" }, h("a", { href: hashOf("symptoms") }, "All symptoms")),
    h("h1", {}, symptom.title),
    h("p", { class: "lead" }, symptom.seen),
    h(
      "details",
      {},
      h("summary", {}, "By which rule a scenario is listed"),
      h("p", {}, `At least ${percent(least)} of its recorded failing runs satisfy ${symptom.rule.length > 1 ? "one of these lines" : "this line"}:`),
      h("ul", {}, symptom.rule.map((line) => h("li", { class: "verbatim" }, line))),
    ),
    runLegend(),
    h("div", { class: "cards" }, symptom.causes.map(({ cause, scenarios }) => causeCard(causes[cause], scenarios, symptom))),
  );
}

function causeCard(cause, scenarios, symptom) {
  const { cards, reference, settings } = data("failures");
  const cardOf = (id) => cards.find((card) => card.id === id);
  const drawn = scenarios.find((each) => each.setting) ?? scenarios[0];
  const setting = drawn.setting ?? reference;
  const [first, ...others] = cause.remedies;
  const change = ({ change: text, verify }) => h("li", {}, marked(text), h("p", { class: "caption" }, "Check: ", marked(verify)));
  return h(
    "article",
    { class: "card candidate" },
    h("h2", {}, cause.title),
    h("p", { class: "tags" }, categoryTag(cause.category)),
    smallRun(cardOf(drawn.id), setting, symptom.signal),
    h("p", { class: "marks" }, `Drawn: ${cardOf(drawn.id).title}, ${settings[setting]}.`),
    h("h3", {}, "What distinguishes it"),
    h("ul", {}, cause.settle.map(({ measure, tells }) => h("li", {}, marked(measure), " ", h("em", {}, marked(tells))))),
    h("h3", {}, "Remedy"),
    h("ul", {}, change(first)),
    h("details", {}, h("summary", {}, "Why, and what else helps"), h("p", {}, marked(cause.mechanism)), others.length ? h("ul", {}, others.map(change)) : null),
    h("h3", {}, "Recorded"),
    h("ul", {}, scenarios.map(({ id, shown, runs }) => h("li", {}, h("a", { href: hashOf("failure", [id]) }, cardOf(id).title), ` (in ${shown} of ${plural(runs, "run")})`))),
  );
}

// Which symptoms a scenario shows.
function symptomsOf(id) {
  return data("symptoms").symptoms.filter(({ causes }) => causes.some(({ scenarios }) => scenarios.some((each) => each.id === id)));
}
