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

  const percentOf = (share) => `${decimals(100 * share, 0)} %`;
  const labelOf = (method) => ` ${markedLabel(method)}`;

  function draw(container, section, state, changed) {
    const { coverage, risk: risks } = section.curves;
    const curves = risks[state.text] ?? {};
    const methods = section.methods.filter((method) => curves[method.id] && (state.simulated || !method.told));
    const chosen = methods.filter((method) => state.curves.includes(method.id));
    const drawn = h("div");
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
      const values = chosen.map((method, index) => ({ method, curve: curves[method.id], drawn: CURVES[index] }));
      drawn.replaceChildren(
        ...(values.length ? [table(values, state.coverage, share), drawnToWidth((width) => chart(values, coverage, state.coverage, share, width))] : [h("p", { class: "nothing" }, "No method is chosen.")]),
      );
    };
    const choose = (event, method) => {
      const others = state.curves.filter((id) => id !== method.id);
      if (event.target.checked && others.length >= MOST) {
        event.target.checked = false;
        say(`At most ${MOST} methods are drawn: take one out first.`);
        return;
      }
      state.curves = event.target.checked ? [...others, method.id] : others;
      changed();
      draw(container, section, state, changed);
      container.querySelector(`input[value="${method.id}"]`)?.focus();
    };
    const boxes = methods.map((method) =>
      h(
        "label",
        { class: "choice" },
        h("input", { type: "checkbox", name: "curve", value: method.id, checked: chosen.includes(method), onchange: (event) => choose(event, method) }),
        labelOf(method),
      ),
    );
    container.replaceChildren(
      h("h2", {}, "Risk and coverage"),
      h(
        "p",
        { id: "coverage-means" },
        "How many of a method’s answers are wrong if only its surest ones are taken? " +
          "An abstention counts as the least sure answer, and as wrong. Simple rules are not here: they state no " +
          "confidence. Over all seeds that were asked about; an asterisk marks rules developed on these scenarios, a double dagger what is fitted to checks developed on them, a section sign a model that was asked once about each run of one seed.",
      ),
      h("fieldset", { class: "choices" }, h("legend", {}, `Methods that are drawn (at most ${MOST})`), boxes),
      h("div", { class: "field slider" }, h("label", { for: "coverage" }, "Coverage: the surest answers"), slider, output),
      drawn,
    );
    redraw();
  }

  function table(values, place, share) {
    const row = ({ method, curve, drawn }) =>
      h("tr", {}, h("th", { scope: "row" }, key(drawn), labelOf(method)), h("td", { class: "number", "data-risk": method.id }, percent(curve[place])));
    return h("table", { class: "risks" }, h("caption", {}, `Wrong among the surest ${share}`), h("tbody", {}, values.map(row)));
  }

  function chart(values, coverage, place, share, width) {
    return lineChart({
      title: "Share of wrong answers against coverage",
      description: `At a coverage of ${share}: ${values.map(({ method, curve }) => `${method.label} ${percent(curve[place])}`).join(", ")} wrong.`,
      width,
      height: Math.min(360, Math.max(240, Math.round(width * 0.5))),
      lines: values.map(({ curve, drawn }) => ({ points: d3.zip(coverage, curve).map(([x, y]) => [100 * x, 100 * y]), ...drawn })),
      marks: [{ x: 100 * coverage[place], label: share, ...LINES.onset }],
      xLabel: "surest answers that are taken, %",
      yLabel: "wrong among them, %",
      xDomain: [0, 100],
    });
  }

  return { draw };
})();
