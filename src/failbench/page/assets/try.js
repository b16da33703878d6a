// Try yours: the simple rules on a pasted log, in this browser. What is pasted is only ever text.
{
  const EXAMPLE = [
    "step: 480, loss: 2.91, grad_norm: 1.4, lr: 0.0003",
    "step: 490, loss: 2.88, grad_norm: 3.9, lr: 0.0003",
    "step: 500, loss: 3.46, grad_norm: 88.2, lr: 0.0003",
    "step: 510, loss: 41.7, grad_norm: 6120.5, lr: 0.0003",
    "step: 520, loss: nan, grad_norm: nan, lr: 0.0003",
  ].join("\n");

  const SIGNAL_WORDS = {
    error_text: "an error message",
    step: "step numbers",
    loss: "training loss",
    gradient_norm: "gradient norm",
    validation_loss: "validation loss",
    perplexity: "perplexity",
    memory: "memory",
    capacity: "capacity of memory",
    tokens: "tokens",
    unknown_tokens: "unknown tokens",
    covered_tokens: "covered tokens",
    oov_rate: "share of unknown tokens",
    vocabulary_coverage: "share of covered tokens",
    learning_rate: "learning rate",
  };

  function words(name) {
    return name.replaceAll("_", " ");
  }

  function number(x) {
    if (x === null) return "–";
    const size = Math.abs(x);
    if (size >= 1e6 || (size > 0 && size < 1e-3)) return x.toExponential(2).replace("-", "−");
    return String(Number(x.toPrecision(4))).replace("-", "−");
  }

  function available(log, capacity) {
    const signals = new Set(log.signals);
    if (capacity !== null) signals.add("capacity");
    if (log.signals.has("memory_share")) {
      signals.add("memory");
      signals.add("capacity");
    }
    return signals;
  }

  // "gradient norm", or "validation loss, training loss or perplexity"
  function needs(rules, feature, signals) {
    const sets = rules.features[feature].needs;
    const missing = sets.map((names) =>
      names
        .filter((name) => !signals.has(name))
        .map((name) => SIGNAL_WORDS[name])
        .join(" and "),
    );
    return missing.every(Boolean) ? missing.join(", or ") : null;
  }

  // A value at the ceiling stands for what is not finite, or so large that it counts as such
  function measured(x, rules) {
    return x === rules.constants.ceiling ? "not finite" : number(x);
  }

  function comparison({ condition, value }, rules) {
    const { side, threshold } = condition;
    const origin = condition.of_healthy ? " (limit of healthy runs of the benchmark)" : "";
    const limit = `${side} ${number(threshold)}${origin}`;
    return value === rules.constants.ceiling
      ? `${words(condition.feature)} is not finite, or so large that it counts as such: ${limit}`
      : `${words(condition.feature)} is ${number(value)}, ${limit}`;
  }

  function evidence(result, rules) {
    return result.conditions.map((part) =>
      part.condition.kind === "text"
        ? h("li", {}, "The error message has the words ", h("q", { class: "verbatim" }, part.words), ".")
        : h("li", {}, `The ${comparison(part, rules)}.`),
    );
  }

  function whyNot(entry, rules, signals) {
    if (entry.state === "set aside") return "needs limits of healthy runs, which are set aside";
    if (entry.state === "not reached") return "an earlier rule decided";
    const missing = entry.conditions.find(({ holds }) => holds === null);
    if (entry.state === "not evaluated" && missing) {
      const lacking = needs(rules, missing.condition.feature, signals);
      return lacking ? `the paste shows no ${lacking}` : `too few values for ${words(missing.condition.feature)}`;
    }
    const failed = entry.conditions.find(({ holds }) => holds === false);
    if (!failed) return "";
    if (failed.condition.kind === "text") {
      return signals.has("error_text") ? "its words are not in the error message" : "the paste has no error message";
    }
    const { condition, value } = failed;
    return `${words(condition.feature)} is ${number(value)}, not ${condition.side} ${number(condition.threshold)}`;
  }

  function answer(result, log, rules, signals) {
    const label = rules.categories.find(({ id }) => id === result.category).label;
    const unread = result.rules.filter(({ state }) => state === "not evaluated");
    const ofHealthy = result.conditions.some(({ condition }) => condition.of_healthy);
    return [
      h("h2", { id: "answer", tabindex: "-1" }, `The rules say: ${label}`),
      result.isFallback
        ? h(
            "p",
            {},
            `None of the ${rules.rules.length} rules holds. The list then says ${label.toLowerCase()}, whatever the log: ` +
              "this answer is a default and no finding.",
          )
        : [
            h("p", {}, "The first rule that holds is ", h("strong", {}, words(result.rule.name)), ` (${result.rule.source}).`),
            h("ul", {}, evidence(result, rules)),
          ],
      ofHealthy
        ? h(
            "p",
            { class: "note" },
            `The limit comes from ${rules.healthy.runs} healthy runs of a small ${rules.healthy.architecture} ` +
              `(mean and ${rules.healthy.sds} standard deviations). For another model, tokenizer or length of run it may mean nothing: ` +
              "set such limits aside above and look again.",
          )
        : null,
      unread.length
        ? h(
            "p",
            {},
            `${plural(unread.length, "rule")} could not be evaluated before that, because the paste does not show what they read; ` +
              "one of them might have decided.",
          )
        : null,
      accuracyNote(rules),
      h("h3", {}, "What to do first about such causes"),
      h("ul", {}, rules.first_steps[result.category].map((step) => h("li", {}, step))),
      h(
        "p",
        {},
        "For the cause itself, its evidence and remedies with checks: ",
        h("code", {}, "failbench diagnose LOG"),
        ", which reads more formats and weighs all signs.",
      ),
      readTable(log, result, rules, signals),
      rulesTable(result, rules, signals),
    ];
  }

  function accuracyNote(rules) {
    const { value, ci_low: low, ci_high: high, n } = rules.accuracy;
    return h(
      "p",
      { class: "note", id: "honest" },
      `How far to trust it: on the ${n} scenarios of the benchmark these rules name the right category in ` +
        `${interval({ value, ci_low: low, ci_high: high })} of the failing runs, with all signals at hand. ` +
        "A pasted tail shows fewer.",
    );
  }

  function withUnit({ formula, unit }) {
    return unit === "1" ? formula : `${formula}; ${unit}`;
  }

  function readTable(log, result, rules, signals) {
    const rows = Object.keys(rules.features).map((name) => ({ name, value: result.features[name] }));
    return h(
      "div",
      {},
      h("h3", {}, "What was read"),
      h(
        "p",
        { id: "read" },
        `${plural(log.lines, "line")}, ${plural(log.entries.length, "entry", "entries")} with measurements; signals: ` +
          `${[...signals].filter((name) => SIGNAL_WORDS[name]).map((name) => SIGNAL_WORDS[name]).join(", ") || "none"}.`,
      ),
      log.error ? [h("p", {}, "Error message:"), h("pre", { class: "quoted", id: "error-text" }, log.error)] : null,
      log.notes.map((note) => h("p", {}, note)),
      sortableTable(
        [
          { label: "Feature", value: (row) => words(row.name), rowHeader: true },
          { label: "Value", value: (row) => row.value, cell: (row) => measured(row.value, rules), numeric: true },
          {
            label: "How",
            value: (row) => rules.features[row.name].formula,
            cell: (row) => {
              const lacking = row.value === null ? needs(rules, row.name, signals) : null;
              return lacking ? `not read: the paste shows no ${lacking}` : withUnit(rules.features[row.name]);
            },
          },
        ],
        rows,
        { caption: "Features that the rules read, from what was pasted" },
      ),
    );
  }

  function rulesTable(result, rules, signals) {
    const label = new Map(rules.categories.map(({ id, label: text }) => [id, text]));
    return h(
      "details",
      {},
      h("summary", {}, `All ${rules.rules.length} rules, in their order`),
      sortableTable(
        [
          { label: "No.", value: (row) => row.position, numeric: true },
          { label: "Rule", value: (row) => words(row.rule.name), rowHeader: true },
          { label: "Category", value: (row) => label.get(row.rule.category) },
          { label: "State", value: (row) => row.state },
          { label: "Why", value: (row) => (row.state === "matched" ? "it holds" : whyNot(row, rules, signals)) },
        ],
        result.rules.map((entry, index) => ({ ...entry, position: index + 1 })),
        { caption: "The first rule that holds decides" },
      ),
    );
  }

  function nothingRead(log) {
    return [
      h("h2", { id: "answer", tabindex: "-1" }, "Nothing was read"),
      h(
        "p",
        {},
        log.lines
          ? "No line has a signal that the rules read, and there is no error message. Lines such as “step: 10, loss: 2.3, grad_norm: 1.1”, JSON lines and tracebacks are read."
          : "Paste the last lines of a log first.",
      ),
      log.notes.map((note) => h("p", {}, note)),
    ];
  }

  views.try = {
    title: "Try yours",
    render(container) {
      const rules = data("rules");
      const answered = h("section", { "aria-labelledby": "answer", class: "answered" });
      const pasted = h("textarea", { id: "log", rows: 12, wrap: "off", spellcheck: "false", autocomplete: "off", "aria-describedby": "log-help" });
      const capacity = h("input", { type: "text", id: "capacity", inputmode: "decimal", size: 8, autocomplete: "off" });
      const healthy = h("input", { type: "checkbox", id: "healthy", checked: true });
      const capacityError = h("p", { class: "wrong-input", id: "capacity-error" });

      function givenCapacity() {
        const text = capacity.value.trim().replace(",", ".");
        const gibibytes = Number(text);
        const bad = text !== "" && !(gibibytes > 0 && Number.isFinite(gibibytes));
        capacityError.textContent = bad ? "Not a positive number: left out." : "";
        if (bad) capacity.setAttribute("aria-invalid", "true");
        else capacity.removeAttribute("aria-invalid");
        return bad || text === "" ? null : gibibytes * 2 ** 30;
      }

      function run() {
        const log = logReader.read(pasted.value, rules);
        const bytes = givenCapacity() ?? log.capacity;
        const signals = available(log, bytes);
        const readable = log.error || log.entries.length;
        const result = readable ? rulesEngine.diagnose(log, bytes, rules, { useHealthy: healthy.checked }) : null;
        answered.replaceChildren(...[result ? answer(result, log, rules, signals) : nothingRead(log)].flat(3).filter(Boolean));
        answered.querySelector("h2").focus();
      }

      container.append(
        h("h1", {}, "Try yours"),
        h(
          "p",
          {},
          `The ${rules.rules.length} simple rules of the benchmark on the tail of your log. It stays in this page: nothing is sent, kept or run.`,
        ),
        h(
          "form",
          {
            class: "trying",
            onsubmit: (event) => {
              event.preventDefault();
              run();
            },
          },
          h(
            "div",
            { class: "field" },
            h("label", { for: "log" }, "The last lines of the log, with the traceback if there is one"),
            pasted,
            h("p", { id: "log-help", class: "aside" }, "Lines such as “step=10 loss=2.3 grad_norm=1.1”, “loss: 2.3 | lr: 3e-4”, JSON lines, and Python tracebacks."),
          ),
          h(
            "div",
            { class: "fields" },
            h(
              "div",
              { class: "field" },
              h("label", { for: "capacity" }, "Memory of the device in GiB, if the log does not say"),
              capacity,
              capacityError,
            ),
            h("label", { class: "choice" }, healthy, " use limits of the benchmark's healthy runs"),
          ),
          h(
            "p",
            { class: "buttons" },
            h("button", { type: "submit", class: "button strong" }, "Ask the rules"),
            " ",
            h(
              "button",
              {
                type: "button",
                class: "quiet",
                onclick: () => {
                  pasted.value = EXAMPLE;
                  run();
                },
              },
              "Show me with an example",
            ),
          ),
        ),
        answered,
      );
    },
  };
}
