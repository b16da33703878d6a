// Charts: pictures in SVG, each with a title and a description that say what they show.

let chartNumber = 0;

function picture(width, height, title, description, children, small = false) {
  chartNumber += 1;
  const [titled, described] = [`chart-${chartNumber}-title`, `chart-${chartNumber}-description`];
  return s(
    "svg",
    {
      role: "img",
      class: small ? "chart small" : "chart",
      viewBox: `0 0 ${width} ${height}`,
      "aria-labelledby": titled,
      "aria-describedby": described,
    },
    s("title", { id: titled }, title),
    s("desc", { id: described }, description),
    children,
  );
}

// The pieces of a line between values that are missing or not finite.
function pieces(points, x, y) {
  const paths = [];
  let piece = [];
  for (const [px, py] of points) {
    if (py === null || py === undefined) {
      if (piece.length) paths.push(piece);
      piece = [];
    } else piece.push(`${x(px).toFixed(1)},${y(py).toFixed(1)}`);
  }
  if (piece.length) paths.push(piece);
  return paths.map((points) => (points.length > 1 ? `M${points.join("L")}` : `M${points[0]}h0.01`)).join("");
}

// chart: {title, description, width, height, small, series: [{label, className, points: [[x, y]]}],
// marks: [{x, label, className}], xLabel, yLabel, xRange}.
function lineChart(chart) {
  const { width, height, small = false } = chart;
  const values = chart.series.flatMap((line) => line.points.map((point) => point[1])).filter((y) => y !== null);
  if (!values.length) return h("p", { class: "nothing" }, `Nothing was recorded of: ${chart.yLabel}.`);
  const log = wantsLog(values);
  let [low, high] = extent(values);
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) * 0.1, low + Math.abs(low) * 0.1];
  if (!log && low > 0 && low / high < 0.4) low = 0;
  const count = small ? 2 : 5;
  let ticks = null;
  if (!log) [low, high, ticks] = roundRange(low, high, count);
  const box = small
    ? { left: 34, right: 8, top: 18, bottom: 20 }
    : { left: 56, right: 14, top: 26, bottom: 40 };
  const steps = chart.xRange ?? extent(chart.series.flatMap((line) => line.points.map((point) => point[0])));
  const x = linearScale(steps[0], steps[1], box.left, width - box.right);
  const y = (log ? logScale : linearScale)(low, high, height - box.bottom, box.top);
  const parts = [];
  for (const tick of ticks ?? y.ticks(count)) {
    const place = y(tick).toFixed(1);
    parts.push(
      s("line", { class: "grid", x1: box.left, x2: width - box.right, y1: place, y2: place }),
      s("text", { class: "tick", x: box.left - 5, y: place, dy: "0.32em", "text-anchor": "end" }, axisNumber(tick)),
    );
  }
  for (const tick of x.ticks(small ? 4 : Math.max(3, Math.floor(width / 90)))) {
    const place = x(tick).toFixed(1);
    const base = height - box.bottom;
    parts.push(
      s("line", { class: "axis", x1: place, x2: place, y1: base, y2: base + 4 }),
      s("text", { class: "tick", x: place, y: base + (small ? 14 : 17), "text-anchor": "middle" }, axisNumber(tick)),
    );
  }
  parts.push(
    s("line", { class: "axis", x1: box.left, x2: width - box.right, y1: height - box.bottom, y2: height - box.bottom }),
  );
  for (const line of chart.series) parts.push(s("path", { class: `line ${line.className}`, d: pieces(line.points, x, y) }));
  parts.push(markers(chart.marks ?? [], x, width, height, box, small));
  const scaled = `${chart.yLabel}${log ? " (logarithmic scale)" : ""}`;
  if (small) parts.push(s("text", { class: "label", x: 0, y: 9 }, scaled));
  else {
    parts.push(
      s("text", { class: "label", x: 0, y: 11 }, scaled),
      s("text", { class: "label", x: width - box.right, y: height - 4, "text-anchor": "end" }, chart.xLabel),
    );
  }
  return picture(width, height, chart.title, chart.description, parts, small);
}

// Upright lines at steps that matter, with words on the side that has room for them.
function markers(marks, x, width, height, box, small) {
  const ordered = [...marks].sort((a, b) => a.x - b.x);
  const needed = (mark) => 6.5 * mark.label.length;
  const atTheEnd = (mark) => width - box.right - x(mark.x) < needed(mark);
  return ordered.map((mark, index) => {
    const place = x(mark.x);
    const next = ordered[index + 1];
    const taken = next && atTheEnd(next) ? needed(next) : 0; // to the left of the next mark
    const crowded = next !== undefined && x(next.x) - place < needed(mark) + taken;
    const left = place - box.left > needed(mark) && (crowded || atTheEnd(mark));
    const below = crowded && !left; // no room on either side: a line lower than the next
    return [
      s("line", {
        class: `mark ${mark.className}`,
        x1: place.toFixed(1),
        x2: place.toFixed(1),
        y1: box.top - 4,
        y2: height - box.bottom,
      }),
      small || !mark.label
        ? null
        : s(
            "text",
            {
              class: `marked ${mark.className}`,
              x: (place + (left ? -4 : 4)).toFixed(1),
              y: box.top + (below ? 20 : 4),
              "text-anchor": left ? "end" : "start",
            },
            mark.label,
          ),
    ];
  });
}

// Draws into a figure at the width that it has, again whenever that changes.
function drawnToWidth(draw, least = 280) {
  const frame = h("div", { class: "drawn" });
  let drawn = 0;
  const watcher = new ResizeObserver(() => {
    const width = Math.max(least, Math.floor(frame.clientWidth));
    if (width !== drawn && frame.clientWidth) {
      drawn = width;
      frame.replaceChildren(draw(width));
    }
  });
  watcher.observe(frame);
  return frame;
}
