// Landing: symptoms first, then the finding of the study with one picture of it, and the other views.

views.landing = {
  render(container) {
    const landing = data("landing");
    container.append(
      h("h1", {}, "Why did my training run fail?"),
      h("p", { class: "lead" }, "Start from what you saw: each symptom has its candidate causes, recorded runs, and the measurement that distinguishes them."),
      h("p", {}, "Each failing run was recorded beside its twin, the same run without the fault."),
      searchForm(),
      symptomList(),
      h("p", {}, "To diagnose a run of your own from its log: ", h("code", {}, "failbench diagnose train.log"), ". ", h("a", { href: hashOf("answers") }, "What it answers"), "."),
      h("h2", {}, "How well can a cause be named from telemetry?"),
      h("p", {}, landing.original),
      h("p", { class: "lead" }, landing.finding),
      h("p", {}, landing.scale),
      h(
        "figure",
        {},
        h("h3", {}, "Reported and measured, method by method"),
        legend(DOTS.map(({ words, ...drawn }) => [drawn, words])),
        drawnToWidth((width) => dotPlot(landing, width)),
        h("figcaption", {}, landing.caption.map((text) => h("p", {}, text))),
      ),
      h("h2", {}, "More views"),
      h("ul", { class: "doors" }, NAVIGATION.slice(1).map(([name, title, text]) => h("li", {}, h("a", { href: hashOf(name) }, h("strong", {}, title), h("span", {}, text))))),
    );
  },
};

// How the groups of methods are drawn, in their order, and what the original reports.
const DOTS = [
  { words: "measured, 95 % interval", symbol: d3.symbolCircle, stroke: "var(--link)", fill: "var(--link)", strokeWidth: 2 },
  { words: "measured, development (*, ‡)", symbol: d3.symbolSquare, stroke: "var(--onset)", fill: "var(--onset)", strokeWidth: 2 },
  { words: "given the true category", symbol: d3.symbolCircle, stroke: "var(--abstained)", fill: "var(--raised)", strokeWidth: 2 },
  { words: "reported by the original, with its interval", symbol: d3.symbolDiamond, stroke: "var(--ink)", fill: "var(--paper)", strokeWidth: 1.2 },
];

// A row per method: a dot with its interval, and below it a diamond where the original has a number.
function dotPlot(landing, width) {
  const narrow = width < 560;
  const name = markedLabel;
  const dots = (rows, of, { words, symbol, ...drawn }, dy) => [
    Plot.ruleY(rows, { x1: (row) => of(row).ci_low ?? NaN, x2: (row) => of(row).ci_high ?? NaN, y: name, dy, stroke: drawn.stroke, strokeWidth: drawn.strokeWidth }),
    Plot.dot(rows, { x: (row) => of(row).value, y: name, dy, symbol, r: 4, ...drawn }),
  ];
  const majority = { stroke: "var(--strong-line)", strokeDasharray: "2 3" };
  const middle = narrow ? 8 : -3;
  return picture(landing.title, landing.description, {
    width,
    height: (narrow ? 48 : 30) * landing.rows.length + 70,
    marginLeft: narrow ? 8 : 260,
    marginRight: 14,
    marginTop: 26,
    marginBottom: 40,
    x: { domain: [0, 100], percent: true, grid: true, ticks: 5, label: "failures whose category (of five) is named right, %", labelArrow: "none" },
    y: { domain: landing.rows.map(name), label: null, tickSize: 0, axis: narrow ? null : "left" },
    marks: [
      narrow
        ? Plot.tickX(landing.rows, { x: () => landing.majority.value, y: name, insetTop: 22, ...majority }) // below the names
        : Plot.ruleX([landing.majority.value], majority),
      Plot.text([landing.majority.value], { x: (x) => x, frameAnchor: "top", dy: -18, text: () => "most frequent category" }),
      narrow ? Plot.text(landing.rows, { y: name, text: name, frameAnchor: "left", textAnchor: "start", dy: -10 }) : null,
      GROUPS.map(({ has }, group) => dots(landing.rows.filter(has), (row) => row.measured, DOTS[group], middle)),
      dots(landing.rows.filter((row) => row.reported), (row) => row.reported, DOTS.at(-1), middle + 7),
    ],
  });
}
