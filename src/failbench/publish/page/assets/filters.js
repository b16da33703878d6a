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

function filterForm(state, change, reset) {
  const index = data("failures");
  const any = (entries, text = "any") => [["", text], ...entries];
  const named = (names) => names.map((name) => [name, name]);
  const choose = (name, label, options, hideLabel) => chooser(`filter-${name}`, label, options, state[name], (value) => change(name, value), hideLabel);
  const groups = GROUPS.map(({ name, has }) => ({ label: name, options: index.methods.filter(has).map(({ id, label }) => [id, label]) }));
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
      choose("symptom", "Symptom", any(data("symptoms").symptoms.map(({ id, title }) => [id, title]))),
      choose("category", "Category", any(Object.entries(index.categories))),
      choose("outcome", "Outcome", any(named(index.outcomes))),
      choose("declared", "Difficulty, declared", any(named(index.difficulties))),
      choose("measured", "Difficulty, measured", any(named(index.difficulties))),
      choose("setting", "Architecture and optimizer", Object.entries(index.settings)),
      h(
        "fieldset",
        { class: "field" },
        h("legend", { class: "name" }, "Who got it right"),
        h(
          "div",
          { class: "pair" },
          choose("method", "Method", any(groups, "any method"), true),
          choose("said", "Verdict of most answers", any(named(index.verdicts), "any verdict"), true),
        ),
      ),
      choose("sort", "Order", [["", "by category"], ["hardest", "hardest first"], ["easiest", "easiest first"], ["title", "by title"]]),
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
