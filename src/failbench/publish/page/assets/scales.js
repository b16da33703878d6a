// Scales: from numbers to places in a picture, with round numbers to write beside them.

function linearScale(low, high, from, to) {
  const span = high - low || 1;
  const scale = (x) => from + ((x - low) / span) * (to - from);
  scale.ticks = (count) => roundSteps(low, high, count);
  return scale;
}

function logScale(low, high, from, to) {
  const inner = linearScale(Math.log10(low), Math.log10(high), from, to);
  const scale = (x) => inner(Math.log10(x));
  scale.ticks = (count) => {
    const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
    const every = Math.max(1, Math.ceil((last - first + 1) / count));
    const powers = [];
    for (let power = first; power <= last; power += every) powers.push(10 ** power);
    return powers.length > 1 ? powers : [low, high];
  };
  return scale;
}

// The step of round numbers of which about so many lie between two.
function roundStep(low, high, count) {
  const rough = (high - low || 1) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough * 0.999);
}

// A range out to round numbers, and these.
function roundRange(low, high, count) {
  const step = roundStep(low, high, count);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const ticks = Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
  return [first * step, last * step, ticks];
}

function roundSteps(low, high, count) {
  const step = roundStep(low, high, count);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push(k * step);
  return ticks;
}

// Short text of a number on an axis: 0.004, 12, 1.5k, 24M, 1e9.
function axisNumber(x) {
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size >= 1e9 || size < 1e-3) return x.toExponential(0).replace("e+", "e").replace("-", "−");
  if (size >= 1e6) return `${trimmed(x / 1e6)}M`;
  if (size >= 1e4) return `${trimmed(x / 1e3)}k`;
  return trimmed(x);
}

function trimmed(x) {
  return String(Number(x.toPrecision(3))).replace("-", "−");
}

// Values that span more than two powers of ten, all above zero, are drawn on a logarithmic scale.
function wantsLog(values) {
  const [low, high] = extent(values);
  return low > 0 && high / low > 100;
}

function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
