// Runs: a failing run drawn over its healthy twin.

// A curve as it is stored: steps as distances from the one before, and values.
function pointsOf(stored) {
  if (!stored) return [];
  let step = 0;
  return stored[0].map((distance, index) => {
    step += distance;
    return [step, stored[1][index]];
  });
}

function curvesOf(setting, id) {
  return data(`curves-${setting}`)[id];
}

// Signals of which something was recorded in the run or in its twin.
function recordedSignals(setting, id) {
  const { run, twin } = curvesOf(setting, id);
  return Object.keys(data("failures").signals).filter((name) => run[name] || twin[name]);
}

function marksOf(recorded) {
  const together = recorded.onset === recorded.failure;
  return [
    { x: recorded.onset, label: together ? "" : "fault", ...LINES.onset },
    { x: recorded.failure, label: together ? `fault and ${recorded.outcome}` : recorded.outcome, ...LINES.failure },
  ].filter((mark) => mark.x !== null);
}

// Where a curve first has a value that is no finite number, as a sentence.
function notFinite(points, label) {
  const first = points.find((point) => point[1] === null);
  return first ? `At step ${first[0]} the ${label.split(",")[0]} is no finite number for the first time. ` : "";
}

function describeRun(card, recorded, signal, run) {
  const { signals, machine } = data("failures");
  const finite = run.map((point) => point[1]).filter((y) => y !== null);
  const [low, high] = d3.extent(finite);
  const seen = finite.length
    ? `Recorded values of the failing run lie between ${short(low)} and ${short(high)}.`
    : "The failing run recorded no value of it.";
  const before = machine.includes(signal) || !recorded.onset ? "" : " Until the fault, both are equal.";
  return (
    `${signals[signal]} against training steps, of the failing run and of its healthy twin. ` +
    `The fault is switched on at step ${recorded.onset}; the run ${outcomeVerb(recorded.outcome)} at step ${recorded.failure}. ${notFinite(run, signals[signal])}${seen}${before}`
  );
}

const VERBS = {
  crash: "crashes",
  diverged: "has diverged",
  stalled: "has stalled",
  degraded: "has degraded",
  hung: "hangs",
  killed: "is killed",
  slow: "has become slow",
};

function outcomeVerb(outcome) {
  return VERBS[outcome] ?? outcome;
}

function runChart(card, setting, signal, size) {
  const recorded = card.settings[setting];
  const curves = curvesOf(setting, card.id);
  const [run, twin] = [pointsOf(curves.run[signal]), pointsOf(curves.twin[signal])];
  return lineChart({
    title: `${card.title}: ${data("failures").signals[signal]}, run and twin`,
    description: describeRun(card, recorded, signal, run),
    lines: [
      { points: twin, ...LINES.twin },
      { points: run, ...LINES.run },
    ],
    marks: marksOf(recorded),
    xLabel: "training step",
    yLabel: data("failures").signals[signal],
    xDomain: [0, recorded.planned],
    ...size,
  });
}

function runLegend() {
  const upright = { transform: "rotate(90)" };
  return legend([
    [LINES.run, "failing run"],
    [LINES.twin, "healthy twin"],
    [{ ...LINES.onset, ...upright }, "fault switched on"],
    [{ ...LINES.failure, ...upright }, "run has failed"],
  ]);
}

function smallRun(card, setting, signal) {
  return drawnToWidth((width) => runChart(card, setting, signal, { width, height: 130, small: true }));
}
