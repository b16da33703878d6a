// Failure: one scenario in full.

views.failure = {
  render(container, route) {
    const index = data("failures");
    const card = index.cards.find((each) => each.id === route.rest[0]);
    if (!card) {
      container.append(
        h("h1", {}, "There is no such failure"),
        h("p", {}, `No scenario has the id “${route.rest[0] ?? ""}”. `, h("a", { href: hashOf("failures") }, "See all of them"), "."),
      );
      return;
    }
    const detail = data("failure")[card.id];
    const setting = filterState(lastFilter).setting;
    container.append(
      neighboursOf(card),
      h("h1", {}, card.title),
      h(
        "p",
        { class: "tags" },
        categoryTag(card.category),
        " ",
        h("span", { class: "tag" }, detail.expected),
        " ",
        h("span", { class: "tag" }, `declared ${card.declared}`),
        " ",
        h("span", { class: "tag" }, `measured ${card.measured}: ${percent(card.ease)} of answers right`),
      ),
      h("p", {}, "Symptoms: ", symptomsOf(card.id).map(({ id, title }, place) => [place ? ", " : "", h("a", { href: hashOf("symptoms", [id]) }, title)])),
      h("p", { class: "lead" }, card.cause),
      h("p", {}, h("strong", {}, "Remedy. "), card.remedy),
      runSection(card, detail, card.settings[setting] ? setting : index.reference),
      saidSection(card, detail),
      monitorSection(detail),
      alikeSection(card, detail),
      labelSection(card, detail),
    );
  },
};

function neighboursOf(card) {
  const listed = found(filterState(lastFilter));
  const place = listed.findIndex((each) => each.id === card.id);
  const link = (each, text) => (each ? h("a", { href: hashOf("failure", [each.id]) }, text(each.title)) : null);
  return h(
    "nav",
    { class: "beside", "aria-label": "Failures beside this one" },
    h("a", { href: hashOf("failures", [], lastFilter) }, "All failures"),
    place >= 0 ? link(listed[place - 1], (title) => `← ${title}`) : null,
    place >= 0 ? link(listed[place + 1], (title) => `${title} →`) : null,
  );
}

function part(id, title, ...children) {
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), children);
}

function runSection(card, detail, first) {
  const index = data("failures");
  const state = { setting: first, signal: card.signal };
  const frame = h("div");
  const facts = h("div", { "aria-live": "polite" });
  const fields = h("div", { class: "fields" });
  const set = (name) => (value) => {
    state[name] = value;
    draw();
    document.getElementById(`choose-${name}`).focus();
  };

  function draw() {
    const names = recordedSignals(state.setting, card.id);
    if (!names.includes(state.signal)) state.signal = names[0];
    const settings = Object.entries(index.settings).filter(([name]) => card.settings[name]);
    fields.replaceChildren(
      chooser("choose-signal", "Signal", names.map((name) => [name, index.signals[name]]), state.signal, set("signal")),
      chooser("choose-setting", "Architecture and optimizer", settings, state.setting, set("setting")),
    );
    frame.replaceChildren(drawnToWidth((width) => runChart(card, state.setting, state.signal, { width, height: width < 560 ? 260 : 340 })));
    const recorded = card.settings[state.setting];
    const error = detail.errors.find((each) => each.settings.includes(state.setting));
    facts.replaceChildren(
      h(
        "p",
        {},
        `The fault is switched on at step ${recorded.onset} of ${recorded.planned}; the run ${outcomeVerb(recorded.outcome)} at step ${recorded.failure}.`,
        " ",
        notFinite(pointsOf(curvesOf(state.setting, card.id).run[state.signal]), index.signals[state.signal]),
        error ? "Its end, as recorded:" : "It raised no error.",
      ),
      error ? h("p", { class: "quoted verbatim", tabindex: "0", role: "region", "aria-label": "Error text" }, error.text) : "",
    );
  }

  draw();
  return part(
    "of-run", "The run over its twin",
    fields,
    h("figure", {}, runLegend(), frame, h("figcaption", {}, `Seed ${index.seed}. ${index.thinning}`)),
    facts,
    recordedTable(card, detail),
  );
}

function recordedTable(card, detail) {
  const index = data("failures");
  const seeds = [...new Set(Object.values(detail.runs).flat().map(([seed]) => seed))].sort((a, b) => a - b);
  const rows = Object.keys(index.settings);
  const cell = (setting, seed) => {
    const run = (detail.runs[setting] ?? []).find((each) => each[0] === seed);
    return run ? `${run[1]}, ${run[2]} → ${run[3]}` : "–";
  };
  return h(
    "details",
    {},
    h("summary", {}, "Every recorded run of this scenario"),
    sortableTable(
      [
        { label: "Architecture, optimizer", value: (setting) => index.settings[setting], rowHeader: true },
        ...seeds.map((seed) => ({ label: `Seed ${seed}`, value: (setting) => cell(setting, seed) })),
      ],
      rows,
      { caption: "Outcome, and the steps of fault and failure" },
    ),
    Object.entries(detail.not_applicable).map(([architecture, reason]) => h("p", { class: "caption" }, `Not in ${architecture}: ${reason}`)),
    Object.entries(detail.others).map(([outcome, condition]) => h("p", { class: "caption" }, `Some runs are ${outcome}: ${condition}`)),
  );
}

function saidSection(card, detail) {
  const index = data("failures");
  const rows = detail.answers.map((answer, place) => ({ ...answer, ...index.methods[place] }));
  return part(
    "of-methods", "What each method answered",
    h(
      "p",
      {},
      `Which category (of ${Object.keys(index.categories).length}) each names, in ${index.asked.answers} answers: ${index.asked.seeds} seeds, each in ${index.asked.repeats} repeats of the folds, by fits that have not ` +
        `learnt from this scenario, in ${index.settings[index.reference]}, on the original’s 19 features. The true category is ${index.categories[card.category].toLowerCase()}.`,
    ),
    GROUPS.map(({ name, note, has }) => {
      const group = rows.filter(has);
      return group.length ? [h("h3", {}, name), h("p", { class: "caption" }, note), answersTable(group, card, name)] : null;
    }),
    explainedList(rows),
    logsTable(detail),
  );
}

function answersTable(rows, card, name) {
  const index = data("failures");
  const total = (row) => d3.sum(Object.values(row.counts));
  const right = (row) => row.counts[card.category] ?? 0;
  return sortableTable(
    [
      { label: "Method", value: (row) => row.label, cell: (row) => (row.told ? `○ ${row.label}` : row.label), rowHeader: true },
      { label: "Reads", value: readsText },
      { label: "Mostly", value: (row) => row.verdict, cell: (row) => verdictText(row.verdict) },
      { label: "Right", value: (row) => right(row) / total(row), cell: (row) => `${right(row)} of ${total(row)}`, numeric: true },
      { label: "Right by seed", value: (row) => row.seeds.join(" · ") },
      {
        label: "Answers",
        value: (row) => Object.keys(row.counts)[0],
        cell: (row) => Object.entries(row.counts).map(([answer, count]) => `${index.answers[answer].toLowerCase()} ${count}`).join(", "),
      },
    ],
    rows,
    { caption: `${name}: answers to this scenario`, hideCaption: true, className: "said" },
  );
}

// What one fit, that of the first repeat, depends on; rules decide by their last condition.
function explainedList(rows) {
  const index = data("failures");
  const explained = rows.filter((row) => row.explained);
  if (!explained.length) return null;
  return [
    h("h3", {}, "On which evidence"),
    h("p", { class: "caption" }, index.explained),
    explained.map((row) =>
      h(
        "details",
        {},
        h("summary", {}, `${row.label}: ${index.answers[row.explained.answer].toLowerCase()}`),
        row.explained.evidence.length ? h("ul", {}, row.explained.evidence.map((text) => h("li", {}, text))) : h("p", { class: "nothing" }, "It gives none."),
        row.explained.left_out ? h("p", { class: "caption" }, `${plural(row.explained.left_out, "condition")} more.`) : null,
      ),
    ),
  ];
}

function logsTable(detail) {
  if (!detail.logs.length) return null;
  const index = data("failures");
  return [
    h("h3", {}, "Given as a log"),
    h("p", { class: "caption" }, "What failbench diagnose answers to logs of these runs, given that they failed, by fits that have not learnt from this scenario. The category is that of the first root cause. Which causes a sign indicates was written on these scenarios: in-sample."),
    sortableTable(
      [
        { label: "From", value: (row) => row.label, rowHeader: true },
        { label: "Most frequent category", value: (row) => index.answers[row.answer] ?? "healthy" },
        { label: "Its share", value: (row) => row.share, cell: (row) => percent(row.share), numeric: true },
        { label: "Category right", value: (row) => row.right, cell: (row) => percent(row.right), numeric: true },
        { label: "Root cause right", value: (row) => row.cause_right, cell: (row) => percent(row.cause_right), numeric: true },
        { label: "Answers", value: (row) => row.answers, numeric: true },
      ],
      detail.logs,
      { caption: "Answers of failbench diagnose to logs of this scenario", hideCaption: true },
    ),
  ];
}

function monitorSection(detail) {
  const index = data("failures");
  const seen = detail.monitor;
  if (!seen) return null;
  return part(
    "of-monitor", "What broke, in order",
    h("p", {}, `At the failure, the monitor answers ${index.answers[seen.answer].toLowerCase()}. `, seen.evidence),
    h("p", { class: "note" }, "In-sample: the last version of these rules was developed on these scenarios. Bounds come from healthy runs alone."),
    h("p", {}, "Each line is a condition of healthy training that the run violated, at the first such step."),
    seen.broken.length
      ? h(
          "ol",
          { class: "broken" },
          seen.broken.map((each) =>
            h(
              "li",
              {},
              h("span", { class: "step" }, `Step ${each.step}`),
              h(
                "div",
                {},
                h("p", {}, "Violated: ", each.statement, each.decided ? h("strong", {}, " This one decided.") : null),
                h("p", { class: "caption" }, `Seen: ${each.seen}. ${each.kind === "logic" ? "Logic" : each.kind === "statistic" ? "Bounded by healthy runs" : "Symptom"}; points to ${index.categories[each.component].toLowerCase()}.${each.step > seen.failure ? " After the failure." : ""}`),
              ),
            ),
          ),
        )
      : h("p", { class: "nothing" }, "No condition of healthy training was seen to be violated."),
  );
}

function alikeSection(card, detail) {
  const index = data("failures");
  const alike = detail.alike;
  const link = (id) => {
    const other = index.cards.find((each) => each.id === id);
    return h("li", {}, h("a", { href: hashOf("failure", [id]) }, other.title), ` (${index.categories[other.category].toLowerCase()})`);
  };
  return part(
    "of-alike", "Similar failures",
    h(
      "p",
      {},
      `Over methods, architectures and seeds (${plural(alike.runs, "run")}), ${percent(alike.ease)} of answers are right; the most frequent wrong answer is `,
      h("strong", {}, index.answers[alike.instead].toLowerCase()),
      ` (${percent(alike.instead_share)}). Of the runs whose features are nearest, ${percent(alike.neighbours_right)} have its category.`,
    ),
    h("h3", {}, "Nearest by its features"),
    h("ul", {}, (alike.neighbours.length ? alike.neighbours : [alike.nearest]).map(link)),
    alike.partners.length ? [h("h3", {}, "Made to show the same symptoms"), h("ul", {}, alike.partners.map(link))] : null,
  );
}

function labelSection(card, detail) {
  const index = data("failures");
  const values = Object.entries(detail.fault.parameters).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  return part(
    "of-label", "The label, and why",
    h(
      "dl",
      { class: "facts" },
      h("dt", {}, "Category"),
      h("dd", {}, index.categories[card.category]),
      h("dt", {}, "Symptoms suggest"),
      h("dd", {}, index.categories[detail.symptom]),
      h("dt", {}, "Rationale"),
      h("dd", {}, detail.rationale),
      h("dt", {}, "Fault"),
      h("dd", {}, h("code", {}, detail.fault.name), `, ${detail.fault.onset.replaceAll("_", " ")}`, values.length ? ` (${values.join(", ")})` : ""),
      detail.ambiguity ? [h("dt", {}, "Unknown, because"), h("dd", {}, detail.ambiguity.replaceAll("_", " "))] : null,
    ),
    h("p", { class: "caption" }, "The cause is given, because it was switched on. The category is a judgement of one designer."),
  );
}
