// Answers: what the command prints of three recorded logs.

views.answers = {
  render(container) {
    const { answers, accuracy } = data("answers");
    const { cards, categories, reference, settings, seed } = data("failures");
    container.append(
      h("h1", {}, "What failbench diagnose answers"),
      h("p", { class: "lead" }, "Three logs of recorded runs, and the answers as the tool prints them. One is wrong."),
      h(
        "p",
        {},
        `Runs of ${settings[reference]}, seed ${seed}, are tried in alphabetical order of scenarios; answers that name no category are passed over. ` +
          "The model has learnt from these runs. On scenarios that it has not learnt from, not given that the run failed, " +
          `it names the right category (of ${Object.keys(categories).length}) of ${interval(accuracy)} of complete logs.`,
      ),
      ...answers.map(({ rule, scenario, right, cause, session }) => {
        const card = cards.find((each) => each.id === scenario);
        return h(
          "section",
          {},
          h("h2", {}, rule),
          h("pre", { class: "quoted terminal", tabindex: "0", role: "region", "aria-label": `Answer to ${card.title}` }, session),
          h(
            "p",
            { class: right ? null : "note" },
            verdictText(right ? "right" : "wrong"),
            ". The fault that was switched on: ",
            h("a", { href: hashOf("failure", [scenario]) }, card.title),
            ` (category ${categories[card.category].toLowerCase()}; root cause: ${cause}).`,
          ),
        );
      }),
    );
  },
};
