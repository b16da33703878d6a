// Method tables: what each method reaches, in groups that must not be ranked together.
const methodTables = (() => {
  const estimate = (values) =>
    values ? { value: values[0], ci_low: values[1] ?? null, ci_high: values[2] ?? null } : null;

  // The figures of a method under the switches; null where nothing was measured
  function figuresOf(section, method, state) {
    return section.figures[state.text]?.[method.id]?.[state.seed] ?? null;
  }

  function groupsOf(section, state) {
    const shown = section.methods.filter((method) => state.simulated || !method.told);
    return GROUPS.map(({ name, note, has }) => ({ name, note, methods: shown.filter(has) })).filter((group) => group.methods.length);
  }

  function columnsOf(section, state, open) {
    const value = (name) => (row) => row.figures?.[name]?.[0] ?? null;
    const shown = (name) => (row) => {
      const numbers = row.figures?.[name];
      if (!row.figures) return "no answers recorded";
      return numbers ? interval(estimate(numbers)) : "never committed";
    };
    const figure = (name, label) => ({ label, value: value(name), cell: shown(name), numeric: true });
    const accuracy = state.committed
      ? figure("accuracy_when_committed", "Right when committed")
      : figure("accuracy", "Accuracy");
    const reported = {
      label: "Reported",
      value: (row) => row.method.reported?.accuracy ?? null,
      cell: (row) => {
        const { reported: printed } = row.method;
        if (!printed) return "–";
        const [low, high] = printed.interval ?? [null, null];
        return interval({ value: printed.accuracy, ci_low: low, ci_high: high });
      },
      numeric: true,
    };
    return [
      {
        label: "Method",
        value: (row) => row.method.label,
        cell: (row) =>
          row.figures
            ? h(
                "button",
                {
                  type: "button",
                  class: "opens",
                  "aria-haspopup": "dialog",
                  "data-method": row.method.id,
                  onclick: () => open(row.method),
                },
                row.method.label,
              )
            : row.method.label,
        rowHeader: true,
      },
      accuracy,
      reported,
      figure("abstention_rate", "Abstains"),
      ...(state.committed ? [] : [figure("accuracy_when_committed", "Right when committed")]),
      figure("macro_f1", "Macro F1"),
      { label: "Reads", value: (row) => row.method.reads },
    ];
  }

  // Whatever column a table is sorted by stays so when a switch draws it again
  function sortOf(container, name, columns) {
    const heading = container.querySelector(`[data-group="${name}"] th[aria-sort]`);
    if (!heading) return { sort: 1, descending: true };
    const label = heading.textContent;
    const index = columns.findIndex((column) => column.label === label);
    return index < 0
      ? { sort: 1, descending: true }
      : { sort: index, descending: heading.getAttribute("aria-sort") === "descending" };
  }

  function captionOf(section, group, state) {
    const seeds = state.seed === "all" ? plural(section.seeds.length, "seed") : `seed ${state.seed}`;
    const intervals =
      state.seed === "all"
        ? ` In brackets: ${100 * section.confidence} % intervals over scenarios and seeds.`
        : " Of one seed there are no intervals.";
    return (
      `${group.name}: ${section.scenarios} scenarios, ${seeds}, ` +
      `${plural(section.repeats, "repeat")} of the folds.${intervals}`
    );
  }

  function draw(container, section, state, open) {
    const columns = columnsOf(section, state, open);
    const parts = groupsOf(section, state).map((group) => {
      const rows = group.methods.map((method) => ({
        method,
        figures: figuresOf(section, method, state),
      }));
      return h(
        "section",
        { "data-group": group.name },
        h("h2", {}, group.name),
        h("p", { class: "note" }, group.note),
        sortableTable(columns, rows, {
          caption: captionOf(section, group, state),
          ...sortOf(container, group.name, columns),
        }),
      );
    });
    container.replaceChildren(...parts);
  }

  return { draw, figuresOf, estimate };
})();
