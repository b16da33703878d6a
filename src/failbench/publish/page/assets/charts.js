// Charts: pictures by Observable Plot, with words for those who do not see them, and keys to their marks.

const LINES = {
  run: { stroke: "var(--run)", strokeWidth: 1.8 },
  twin: { stroke: "var(--twin)", strokeWidth: 1.5, strokeDasharray: "5 3.5" },
  onset: { stroke: "var(--onset)", strokeDasharray: "2 3", strokeWidth: 1.3 },
  failure: { stroke: "var(--run)", strokeWidth: 1.3 },
};

// Pixels left of an axis: its mark and a gap, and a letter of a label, at the most.
const [TICK_MARK, LETTER] = [10, 7];

const short = d3.format(".4~g");

// A plot that is one picture to readers of the screen.
function picture(title, description, options) {
  const plot = Plot.plot({ ariaLabel: title, ariaDescription: description, className: "chart", ...options });
  plot.setAttribute("role", "img");
  for (const part of plot.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label"); // the picture has one name
  return plot;
}

// lines: {points: [[x, y]], and how a line is drawn}; marks: upright lines {x, label, and how it is drawn}.
function lineChart({ title, description, lines, marks, xLabel, yLabel, xDomain, width, height, small = false }) {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y)).filter((y) => y !== null);
  if (!values.length) return h("p", { class: "nothing" }, `Nothing was recorded of: ${yLabel}.`);
  const [low, high] = d3.extent(values);
  const log = low > 0 && high / low > 100;
  const zero = !log && low > 0 && low / high < 0.4;
  const [ticks, tickFormat] = [small ? 3 : 5, log ? "~g" : short];
  const scale = (log ? d3.scaleLog() : d3.scaleLinear()).domain([zero ? 0 : low, high]).nice();
  const written = scale.ticks(ticks).map(log ? scale.tickFormat(ticks, tickFormat) : tickFormat);
  const rightHalf = ({ x }) => x > (xDomain[0] + xDomain[1]) / 2;
  return picture(title, description, {
    width,
    height,
    marginLeft: Math.max(small ? 42 : 58, TICK_MARK + LETTER * d3.max(written, (text) => text.length)),
    marginRight: 12,
    marginTop: small ? 20 : 30,
    marginBottom: small ? 20 : 38,
    x: { domain: xDomain, ticks: small ? 4 : Math.max(3, width / 90), label: small ? null : xLabel, labelArrow: "none" },
    y: {
      type: log ? "log" : "linear",
      nice: true,
      zero,
      ticks,
      tickFormat,
      grid: true,
      label: log ? `${yLabel} (logarithmic scale)` : yLabel,
      labelArrow: "none",
    },
    marks: [
      lines.map(({ points, ...drawn }) => Plot.line(points, { x: "0", y: "1", ...drawn })),
      marks.map(({ x, label, ...drawn }) => Plot.ruleX([x], drawn)),
      small
        ? null
        : marks.map((mark, index) =>
            Plot.text([mark], {
              x: "x",
              text: "label",
              frameAnchor: "top",
              textAnchor: rightHalf(mark) ? "end" : "start",
              dx: rightHalf(mark) ? -5 : 5,
              dy: 14 * index,
              fill: mark.stroke,
              stroke: "var(--paper)",
              strokeWidth: 4,
            }),
          ),
    ],
  });
}

// What a mark of a picture means: [how it is drawn, words] each.
function legend(entries) {
  return h("ul", { class: "legend" }, entries.map(([drawn, ...words]) => h("li", {}, key(drawn), words)));
}

function key({ symbol, ...drawn }) {
  const attributes = Object.entries(drawn).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value]);
  return s(
    "svg",
    { class: "key", viewBox: "0 0 26 12", "aria-hidden": "true", ...Object.fromEntries(attributes) },
    s("line", { x1: 1, x2: 25, y1: 6, y2: 6 }),
    symbol ? s("path", { d: d3.symbol(symbol, 50)(), transform: "translate(13 6)" }) : null,
  );
}

// Draws into a figure at the width that it has, again whenever that changes, once it comes near the window.
function drawnToWidth(draw) {
  const frame = h("div", { class: "drawn" });
  let drawn = 0;
  const resized = new ResizeObserver(() => {
    const width = Math.floor(frame.clientWidth);
    if (width && width !== drawn) {
      drawn = width;
      frame.replaceChildren(draw(width));
    }
  });
  const seen = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      resized.observe(frame);
    },
    { rootMargin: "600px" },
  );
  seen.observe(frame);
  return frame;
}
