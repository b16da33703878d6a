// Landing: the finding in a sentence, one picture of it, and the doors to the views.

const DOORS = [
  ["failures", "Failures", "Every scenario: the run over its healthy twin, its cause, and who got it right."],
  ["methods", "Methods", "How often each method is right, where it errs, and what it reads."],
  ["reported", "Reported against measured", "Each number of the original beside ours; and, apart from it, the original against its own figures."],
];

views.landing = {
  title: "failbench",
  render(container) {
    const landing = data("landing");
    container.append(
      h("h1", {}, "Why did my training run fail, and how well can its telemetry tell?"),
      h("p", { class: "lead" }, landing.finding),
      h("p", {}, landing.scale),
      h(
        "ul",
        { class: "doors" },
        DOORS.filter(([name]) => views[name]).map(([name, title, text]) =>
          h("li", {}, h("a", { href: hashOf(name) }, h("strong", {}, title), h("span", {}, text))),
        ),
      ),
      h("p", {}, "To diagnose a run of your own from its log: ", h("code", {}, "failbench diagnose train.log"), "."),
      h("h2", {}, "Reported and measured, method by method"),
      h(
        "figure",
        {},
        dotLegend(landing),
        drawnToWidth((width) => dotPlot(landing, width)),
        h("figcaption", {}, landing.caption.map((text) => h("p", {}, text))),
      ),
    );
  },
};

function dotLegend(landing) {
  const sample = (className, ...children) =>
    s("svg", { viewBox: "0 0 26 12", "aria-hidden": "true", class: "chart dots" }, s("g", { class: className }, children));
  const dot = () => s("circle", { class: "dot", cx: 13, cy: 6, r: 4 });
  return h(
    "ul",
    { class: "legend" },
    h("li", {}, sample("", s("line", { class: "whisker", x1: 1, x2: 25, y1: 6, y2: 6 }), dot()), "measured, 95 % interval"),
    h("li", {}, sample("", s("line", { class: "reported range", x1: 1, x2: 25, y1: 6, y2: 6 }), diamond(13, 6)), "reported by the original, with its interval"),
    landing.rows.some((row) => row.development)
      ? h("li", {}, sample("view", s("line", { class: "whisker", x1: 1, x2: 25, y1: 6, y2: 6 }), square(13, 6)), "measured, development*")
      : null,
    landing.rows.some((row) => row.told) ? h("li", {}, sample("told", dot()), "given the true category") : null,
  );
}

function diamond(x, y, r = 5) {
  return s("path", { class: "reported", d: `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z` });
}

function square(x, y, r = 4) {
  return s("rect", { class: "dot", x: x - r, y: y - r, width: 2 * r, height: 2 * r });
}

// A row per method: a dot with its interval, and a diamond where the original has a number.
function dotPlot(landing, width) {
  const narrow = width < 560;
  const row = narrow ? 50 : 32;
  const box = { left: narrow ? 6 : 190, right: 14, top: 24, bottom: 40 };
  const height = box.top + row * landing.rows.length + box.bottom;
  // the reported number stands a little below the measured one, so that neither hides the other
  const x = linearScale(0, 1, box.left, width - box.right);
  const base = height - box.bottom;
  const parts = [0, 0.25, 0.5, 0.75, 1].map((tick) => [
    s("line", { class: "grid", x1: x(tick), x2: x(tick), y1: box.top - 4, y2: base }),
    s("text", { class: "tick", x: x(tick), y: base + 16, "text-anchor": "middle" }, `${100 * tick}`),
  ]);
  parts.push(
    s("line", { class: "majority", x1: x(landing.majority.value), x2: x(landing.majority.value), y1: box.top - 4, y2: base }),
    s("text", { class: "tick", x: x(landing.majority.value), y: box.top - 9, "text-anchor": "middle" }, "most frequent category"),
    s("text", { class: "label", x: width - box.right, y: height - 6, "text-anchor": "end" }, "failures whose category (of five) is named right, %"),
  );
  landing.rows.forEach((method, index) => {
    const y = box.top + row * (index + 0.5) + (narrow ? 7 : -3);
    const name = `${method.label}${method.development ? "*" : ""}`;
    parts.push(
      s(
        "g",
        { class: method.told ? "told" : method.development ? "view" : null },
        s("text", narrow ? { x: box.left, y: y - 12 } : { x: box.left - 12, y, dy: "0.34em", "text-anchor": "end" }, name),
        s("line", { class: "whisker", x1: x(method.measured.ci_low), x2: x(method.measured.ci_high), y1: y, y2: y }),
        method.development ? square(x(method.measured.value), y) : s("circle", { class: "dot", cx: x(method.measured.value), cy: y, r: 4.5 }),
        method.reported && method.reported.ci_low !== null
          ? s("line", { class: "reported range", x1: x(method.reported.ci_low), x2: x(method.reported.ci_high), y1: y + 7, y2: y + 7 })
          : null,
        method.reported ? diamond(x(method.reported.value), y + 7) : null,
      ),
    );
  });
  const chart = picture(width, height, landing.title, landing.description, parts);
  chart.classList.add("dots");
  return chart;
}
