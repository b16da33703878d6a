// Tables: rows of records under headings that sort them, and lists to choose from.

// columns: {label, value(row) -> number or text to sort by, cell(row) -> what is shown, numeric,
// rowHeader}; options: {caption, hideCaption, className, sort: index of the column that sorts at first, descending}.
function sortableTable(columns, rows, options = {}) {
  const body = h("tbody");
  const headings = columns.map((column, index) =>
    h(
      "th",
      { scope: "col", class: column.numeric ? "number" : null },
      h("button", { type: "button", onclick: () => sortBy(index) }, column.label),
    ),
  );
  const state = { index: null, descending: false };

  function compare(a, b) {
    const missing = (x) => x === null || x === undefined || Number.isNaN(x);
    if (missing(a) || missing(b)) return missing(a) - missing(b); // last in both directions
    const order = typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en");
    return state.descending ? -order : order;
  }

  function draw() {
    const value = state.index === null ? null : columns[state.index].value;
    const ordered = value ? [...rows].sort((a, b) => compare(value(a), value(b))) : rows;
    headings.forEach((heading, index) => {
      if (index === state.index) {
        heading.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      } else heading.removeAttribute("aria-sort");
    });
    body.replaceChildren(
      ...ordered.map((row) =>
        h(
          "tr",
          {},
          columns.map((column) => {
            const shown = column.cell ? column.cell(row) : column.value(row);
            const attributes = { class: column.numeric ? "number" : null, "data-label": column.label };
            return column.rowHeader
              ? h("th", { scope: "row", ...attributes }, shown)
              : h("td", attributes, shown ?? "–");
          }),
        ),
      ),
    );
  }

  function sortBy(index) {
    // numbers begin with the largest, words with the first
    const first = Boolean(columns[index].numeric);
    state.descending = state.index === index ? !state.descending : first;
    state.index = index;
    draw();
    say(`Sorted by ${columns[index].label}, ${state.descending ? "descending" : "ascending"}.`);
  }

  if (options.sort !== undefined) {
    state.index = options.sort;
    state.descending = Boolean(options.descending);
  }
  draw();
  const label = typeof options.caption === "string" ? options.caption : "Table";
  return h(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": label },
    h(
      "table",
      { class: ["stacks", options.className].filter(Boolean).join(" ") },
      options.caption ? h("caption", { class: options.hideCaption ? "hidden" : null }, options.caption) : null,
      h("thead", {}, h("tr", {}, headings)),
      body,
    ),
  );
}

// A list to choose from; options: [value, text], or {label, options} for a group of them.
function chooser(id, label, options, value, onchange, hideLabel = false) {
  const entry = ([option, text]) => h("option", { value: option }, text);
  const select = h(
    "select",
    { id, onchange: () => onchange(select.value) },
    options.map((each) => (each.options ? h("optgroup", { label: each.label }, each.options.map(entry)) : entry(each))),
  );
  select.value = value;
  return h("div", { class: "field" }, h("label", { for: id, class: hideLabel ? "hidden" : null }, label), select);
}
