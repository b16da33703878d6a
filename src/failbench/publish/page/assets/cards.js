// Cards: a scenario in short, and what verdicts, categories and groups of methods are called and marked with.

// Groups that must not be ranked together, with what their answers are worth.
const GROUPS = [
  {
    name: "Held out",
    note:
      "Not fitted to the scenario that they diagnose: thresholds come from the original, from healthy runs and from training folds. " +
      "One author wrote faults, labels and rules.",
    has: (method) => !method.told && !method.development,
  },
  {
    name: "Development",
    note: "These depend on the last version of the monitor’s rules. The author of the faults developed it on these scenarios: rules are in-sample; what is fitted to its checks is fitted out of fold.",
    has: (method) => method.development,
  },
  {
    name: "Given the true category",
    note: "For all or part of their answers: they show what an assumption about people comes to, and are no diagnosis.",
    has: (method) => method.told,
  },
];

// A method's label with an asterisk if it is in-sample, a double dagger if what it reads is, a section sign if it was asked once.
function markedLabel({ label, mark, asked }) {
  return `${label}${mark}${asked ? "§" : ""}`;
}

// What a method reads, and how often it was asked if that was once.
function readsText({ reads, asked }) {
  return asked ? `${reads}; ${asked}` : reads;
}

const VERDICT_MARKS = { right: "✓", wrong: "✗", abstained: "–", divided: "≈" };

const CATEGORY_SHAPES = { memory_hardware: "■", optimization: "▲", data_pipeline: "◆", model_software: "●", unknown: "○" };

function mark(sign) {
  return h("span", { "aria-hidden": "true" }, `${sign} `);
}

function verdictText(verdict) {
  return h("span", { class: `verdict ${verdict}` }, mark(VERDICT_MARKS[verdict]), verdict);
}

// A category has a shape and a name.
function categoryTag(category) {
  return h("span", { class: "tag" }, mark(CATEGORY_SHAPES[category]), data("failures").categories[category]);
}

function errorQuote(recorded) {
  if (!recorded.error) return null;
  const more = recorded.left_out ? h("span", { class: "caption" }, ` … ${recorded.left_out} characters more`) : null;
  return h("p", { class: "quoted verbatim" }, recorded.error, more);
}

// How many held-out methods are right about it in most of their answers.
function whoIsRight(card) {
  const { methods } = data("failures");
  const heldOut = methods.map((method, index) => [method, card.verdicts[index]]).filter(([method]) => GROUPS[0].has(method));
  const right = heldOut.filter(([, verdict]) => verdict === "right").length;
  return h("p", { class: "who" }, h("strong", {}, `${right} of ${heldOut.length}`), " held-out methods name the right category");
}

function failureCard(card, setting) {
  const recorded = card.settings[setting];
  return h(
    "article",
    { class: "card" },
    h("h2", {}, h("a", { href: hashOf("failure", [card.id]) }, card.title)),
    h(
      "p",
      { class: "tags" },
      categoryTag(card.category),
      " ",
      h("span", { class: "tag" }, recorded.outcome),
      " ",
      h("span", { class: "tag" }, card.declared === card.measured ? `declared and measured ${card.declared}` : `declared ${card.declared}, measured ${card.measured}`),
    ),
    smallRun(card, setting, card.signal),
    h("p", { class: "marks" }, `Fault at step ${recorded.onset}; ${outcomeVerb(recorded.outcome)} at step ${recorded.failure}.`),
    errorQuote(recorded),
    h("p", {}, card.cause),
    whoIsRight(card),
  );
}
