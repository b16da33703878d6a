// Risk: how often the surest answers of a method are wrong, along coverage.
const risk = (() => {
  const CURVES = [
    ["link", null],
    ["run", "7 3"],
    ["right", "2 3"],
    ["onset", "9 3 2 3"],
    ["abstained", "4 2"],
    ["ink", "1 2"],
  ].map(([colour, strokeDasharray]) => ({ stroke: `var(--${colour})`, strokeWidth: 1.8, strokeDasharray }));
  const MOST = CURVES.length;

  function methodsOf(section, state) {
    const curves = section.curves.risk[state.text] ?? {};
    return section.methods.filter(
      (method) => curves[method.id] && (state.simulated || !method.told),
    );
  }

  function atCoverage(section, state, method) {
    return section.curves.risk[state.text][method][state.coverage];
  }

  function draw(container, section, state, changed) {
    const methods = methodsOf(section, state);
    const chosen = methods.filter((method) => state.curves.includes(method.id));
    const figure = h("div");
    const table = h("div");
    const coverage = section.curves.coverage;
    const output = h("output", { for: "coverage", class: "at" });
    const slider = h("input", {
      type: "range",
      id: "coverage",
      min: 0,
      max: coverage.length - 1,
      step: 1,
      value: String(state.coverage),
      "aria-describedby": "coverage-means",
      oninput: () => {
        state.coverage = Number(slider.value);
        redraw();
        changed();
      },
    });
    const redraw = () => {
      const share = percentOf(coverage[state.coverage]);
      output.textContent = share;
      slider.setAttribute("aria-valuetext", share);
      table.replaceChildren(values(section, state, chosen));
      figure.replaceChildren(drawnToWidth((width) => chart(section, state, chosen, width)));
    };
    const boxes = methods.map((method) =>
      h(
        "label",
        { class: "choice" },
        h("input", {
          type: "checkbox",
          name: "curve",
          value: method.id,
          checked: state.curves.includes(method.id),
          onchange: (event) => choose(event, method, state, () => {
            changed();
            draw(container, section, state, changed);
            container.querySelector(`input[value="${method.id}"]`)?.focus();
          }),
        }),
        ` ${method.label}${method.development ? "*" : ""}`,
      ),
    );
    container.replaceChildren(
      h("h2", {}, "Risk and coverage"),
      h(
        "p",
        { id: "coverage-means" },
        "If only the answers are taken of which a method is surest, how many of them are wrong? " +
          "An abstention counts as the least sure answer, and as wrong. Simple rules are not here: they state no " +
          "confidence. Over all seeds; an asterisk marks methods made with these scenarios in view.",
      ),
      h(
        "fieldset",
        { class: "choices" },
        h("legend", {}, `Methods that are drawn (at most ${MOST})`),
        boxes,
      ),
      h("div", { class: "field slider" }, h("label", { for: "coverage" }, "Coverage: the surest answers"), slider, output),
      table,
      figure,
    );
    redraw();
  }

  function choose(event, method, state, then) {
    const others = state.curves.filter((id) => id !== method.id);
    if (event.target.checked && others.length >= MOST) {
      event.target.checked = false;
      say(`At most ${MOST} methods are drawn: take one out first.`);
      return;
    }
    state.curves = event.target.checked ? [...others, method.id] : others;
    then();
  }

  function percentOf(share) {
    return `${decimals(100 * share, 0)} %`;
  }

  function values(section, state, chosen) {
    if (!chosen.length) return h("p", { class: "nothing" }, "No method is chosen.");
    return h(
      "table",
      { class: "risks" },
      h("caption", {}, `Wrong among the surest ${percentOf(section.curves.coverage[state.coverage])}`),
      h(
        "tbody",
        {},
        chosen.map((method, index) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, key(CURVES[index]), ` ${method.label}${method.development ? "*" : ""}`),
            h("td", { class: "number", "data-risk": method.id }, percent(atCoverage(section, state, method.id))),
          ),
        ),
      ),
    );
  }

  function chart(section, state, chosen, width) {
    if (!chosen.length) return h("p", { class: "nothing" }, "No method is chosen.");
    const coverage = section.curves.coverage;
    const share = percentOf(coverage[state.coverage]);
    const named = chosen.map(
      (method) => `${method.label} ${percent(atCoverage(section, state, method.id))}`,
    );
    return lineChart({
      title: "Share of wrong answers against coverage",
      description: `At a coverage of ${share}: ${named.join(", ")} wrong.`,
      width,
      height: Math.min(360, Math.max(240, Math.round(width * 0.5))),
      lines: chosen.map((method, index) => ({
        points: coverage.map((x, place) => [100 * x, 100 * section.curves.risk[state.text][method.id][place]]),
        ...CURVES[index],
      })),
      marks: [{ x: 100 * coverage[state.coverage], label: share, ...LINES.onset }],
      xLabel: "surest answers that are taken, %",
      yLabel: "wrong among them, %",
      xDomain: [0, 100],
    });
  }

  return { draw };
})();
