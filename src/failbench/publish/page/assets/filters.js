// Filters: which scenarios are shown, as it stands in the address.

const FILTERS = ["symptom", "category", "outcome", "declared", "measured", "setting", "method", "said", "q", "sort"];

function filterState(query) {
  const state = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const index = data("failures");
  if (!index.settings[state.setting]) state.setting = index.reference;
  return state;
}

function filterQuery(state) {
  const query = new URLSearchParams();
  for (const name of FILTERS) {
    const isDefault = name === "setting" && state.setting === data("failures").reference;
    if (state[name] && !isDefault) query.set(name, state[name]);
  }
  return query;
}

function symptomText({ id, title, seen, synonyms }) {
  return [id, title, seen, ...synonyms].join("\n");
}

// All that a search looks at: of a run its outcome and error, and of its symptoms the words that people use.
function cardText(card, recorded) {
  const { categories } = data("failures");
  const own = [card.id, card.title, card.cause, card.remedy, categories[card.category], recorded.outcome, recorded.error ?? ""];
  return [...own, ...symptomsOf(card.id).map(symptomText)].join("\n");
}

// Whether each word that is asked for begins a word of a text: "oom" does not find "room".
function hasWords(text, asked) {
  const words = ` ${text.toLowerCase().replace(/[^a-z0-9]+/g, " ")}`;
  return asked.toLowerCase().split(/[^a-z0-9]+/).every((word) => words.includes(` ${word}`));
}

function matches(card, state) {
  const index = data("failures");
  const recorded = card.settings[state.setting];
  if (!recorded) return false;
  if (state.category && card.category !== state.category) return false;
  if (state.outcome && recorded.outcome !== state.outcome) return false;
  if (state.declared && card.declared !== state.declared) return false;
  if (state.measured && card.measured !== state.measured) return false;
  if (state.method && state.said) {
    const place = index.methods.findIndex((method) => method.id === state.method);
    if (card.verdicts[place] !== state.said) return false;
  }
  if (state.symptom && !symptomsOf(card.id).some(({ id }) => id === state.symptom)) return false;
  if (state.q && !hasWords(cardText(card, recorded), state.q)) return false;
  return true;
}

const ORDERS = {
  "": null,
  hardest: (a, b) => a.ease - b.ease,
  easiest: (a, b) => b.ease - a.ease,
  title: (a, b) => a.title.localeCompare(b.title, "en"),
};

function found(state) {
  const hits = data("failures").cards.filter((card) => matches(card, state));
  return ORDERS[state.sort] ? hits.sort(ORDERS[state.sort]) : hits;
}

function chooser(label, name, state, options, change) {
  const id = `filter-${name}`;
  const select = h(
    "select",
    { id, onchange: (event) => change(name, event.target.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  select.value = state[name];
  return h("div", { class: "field" }, h("label", { for: id }, label), select);
}

function filterForm(state, change, reset) {
  const index = data("failures");
  const any = (entries) => [["", "any"], ...entries];
  const grades = any(index.difficulties.map((name) => [name, name]));
  const methods = h(
    "select",
    { id: "filter-method", onchange: (event) => change("method", event.target.value) },
    h("option", { value: "" }, "any method"),
    GROUPS.map(({ name, has }) =>
      h("optgroup", { label: name }, index.methods.filter(has).map((method) => h("option", { value: method.id }, method.label))),
    ),
  );
  methods.value = state.method;
  return h(
    "form",
    { class: "filters", role: "search", "aria-label": "Filter failures", onsubmit: (event) => event.preventDefault() },
    h(
      "div",
      { class: "fields" },
      h(
        "div",
        { class: "field text" },
        h("label", { for: "filter-q" }, "Symptom, cause, remedy, outcome or error"),
        h("input", { id: "filter-q", type: "search", value: state.q, oninput: (event) => change("q", event.target.value) }),
      ),
      chooser("Symptom", "symptom", state, any(data("symptoms").symptoms.map(({ id, title }) => [id, title])), change),
      chooser("Category", "category", state, any(Object.entries(index.categories)), change),
      chooser("Outcome", "outcome", state, any(Object.entries(index.outcomes)), change),
      chooser("Difficulty, declared", "declared", state, grades, change),
      chooser("Difficulty, measured", "measured", state, grades, change),
      chooser("Architecture and optimizer", "setting", state, Object.entries(index.settings), change),
      h(
        "fieldset",
        { class: "field who-filter" },
        h("legend", { class: "name" }, "Who got it right"),
        h(
          "div",
          { class: "pair" },
          h("label", { class: "hidden", for: "filter-method" }, "Method"),
          methods,
          h("label", { class: "hidden", for: "filter-said" }, "Verdict of most answers"),
          saidSelect(state, change),
        ),
      ),
      chooser("Order", "sort", state, [["", "by category"], ["hardest", "hardest first"], ["easiest", "easiest first"], ["title", "by title"]], change),
      h("button", { type: "button", class: "quiet", onclick: reset }, "Clear all"),
    ),
    h(
      "p",
      { class: "caption" },
      `A method is right, wrong or abstained where more than half of its ${index.asked.answers} answers are ` +
        `(${index.asked.repeats} repeats of the folds, ${index.asked.seeds} seeds, in ${index.settings[index.reference]}, whatever setting is drawn), and divided elsewhere.`,
    ),
  );
}

function saidSelect(state, change) {
  const select = h(
    "select",
    { id: "filter-said", onchange: (event) => change("said", event.target.value) },
    h("option", { value: "" }, "any verdict"),
    Object.keys(data("failures").verdicts).map((name) => h("option", { value: name }, name)),
  );
  select.value = state.said;
  return select;
}
