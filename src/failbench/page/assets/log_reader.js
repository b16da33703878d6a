// A pasted log as entries with signals, and its error text. Pasted text is data: it is only ever
// compared and counted here.
const logReader = (() => {
  "use strict";

  const LONGEST_PASTE = 2_000_000;
  const LONGEST_LINE = 4_000;
  const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[Nn]a[Nn]|[Ii]nf(?:inity)?|null|None)`;
  const UNIT = String.raw`(?:\s?([KMGTkmgt]i?[Bb]|[Bb]ytes|B|%))?`;
  const VALUE = String.raw`(${NUMBER})(?:\s?\/\s?(${NUMBER}))?${UNIT}(?![\w.])`;
  const PAIR = new RegExp(String.raw`([A-Za-z][\w./ -]{0,79}?)["']?\s*[:=]\s*["']?${VALUE}`, "g");
  const BARE = new RegExp(String.raw`^\s*([A-Za-z][\w./ -]{0,79}?)\s+${VALUE}\s*$`);
  // eslint-disable-next-line no-control-regex
  const COLOUR = /\u001b\[[0-9;]*[A-Za-z]/g;

  function number(text) {
    if (/^(?:null|none)$/i.test(text)) return null;
    if (/nan/i.test(text)) return NaN;
    if (/inf/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
    return Number(text);
  }

  // Signals of one line, [{of, value, unit, total}]
  function signalsOf(line, rules) {
    if (line.length > LONGEST_LINE) return [];
    const found = [];
    const add = (name, value, total, unit) => {
      const known = logNames.meaningAtEnd(name, rules);
      if (known) found.push(signal(known, number(value), total ? number(total) : null, unit));
    };
    for (const [, name, value, total, unit] of line.matchAll(PAIR)) add(name, value, total, unit);
    if (found.length === 0 || line.includes("|")) {
      for (const segment of line.split(/[|,]/)) {
        const bare = BARE.exec(segment);
        if (bare) add(bare[1], bare[2], bare[3], bare[4]);
      }
    }
    return found.filter((one) => one.value !== null);
  }

  function signal(known, value, total, unit) {
    let of = known.of;
    if (of === "grad_norm") of = "gradient_norm";
    if (of === "loss" && known.split === "validation") of = "validation_loss";
    let factor = known.unit;
    if (unit) factor = unit === "%" ? "%" : logNames.unitFactor(unit);
    return { of, value, total, factor };
  }

  // {entries, error, signals, notes, lines}
  function read(text, rules) {
    const notes = [];
    let kept = text;
    if (kept.length > LONGEST_PASTE) {
      kept = kept.slice(-LONGEST_PASTE);
      notes.push(`Only the last ${LONGEST_PASTE.toLocaleString("en")} characters were read.`);
    }
    const lines = kept.replace(COLOUR, "").split(/\r\n|\n|\r/);
    const parsed = new Map();
    const signalsAt = (line) => {
      if (!parsed.has(line)) parsed.set(line, signalsOf(line, rules));
      return parsed.get(line);
    };
    const error = logErrors.find(lines, (line) => signalsAt(line).length > 0);
    const collected = collect(lines, error.inside, signalsAt, notes);
    const quoted = quotedErrors(lines, (line) => signalsAt(line).length > 0);
    const errorText = quoted || error.text;
    const signals = new Set();
    for (const entry of collected.entries) {
      for (const name of Object.keys(entry)) signals.add(name);
    }
    if (collected.capacity !== null) signals.add("capacity");
    if (errorText) signals.add("error_text");
    return {
      entries: collected.entries,
      capacity: collected.capacity,
      error: errorText,
      signals,
      notes,
      lines: lines.filter((line) => line.trim()).length,
    };
  }

  // Lines to entries: values of one step belong together, and a step that goes back starts anew
  function collect(lines, inside, signalsAt, notes) {
    let entries = [];
    let capacity = null;
    let unitless = false;
    let several = false;
    for (let at = 0; at < lines.length; at += 1) {
      if (inside.has(at)) continue;
      const values = {};
      for (const { of, value, total, factor } of signalsAt(lines[at])) {
        if (of === "capacity") {
          if (factor && factor !== "%") capacity = value * factor;
        } else if (of === "memory") {
          if (factor === null) unitless = true;
          else if (factor === "%") values.memory_share ??= value / 100;
          else {
            values.memory ??= value * factor;
            if (total !== null) capacity = total * factor;
          }
        } else if (!Object.hasOwn(values, of)) values[of] = value;
      }
      if (Object.keys(values).length === 0) continue;
      const last = entries[entries.length - 1];
      const step = values.step;
      const clashes = last && Object.keys(values).some((name) => name !== "step" && name in last);
      if (step === undefined) {
        if (last && !clashes) Object.assign(last, values);
        else entries.push(values);
      } else if (last && last.step === step) {
        for (const [name, value] of Object.entries(values)) last[name] ??= value;
      } else {
        if (last && last.step !== undefined && step < last.step) {
          entries = [];
          several = true;
        }
        entries.push(values);
      }
    }
    if (several) notes.push("Step numbers go back: what follows the last such place was read.");
    if (unitless) notes.push("Memory without a unit was not read.");
    return { entries: entries.filter((entry) => hasMeasurement(entry)), capacity };
  }

  function hasMeasurement(entry) {
    return Object.keys(entry).some((name) => name !== "epoch");
  }

  // Errors inside JSON lines: {"error_type": ..., "error_message": ...} or a quoted traceback
  function quotedErrors(lines, isEntry) {
    let text = "";
    for (const line of lines) {
      if (!/"(?:error|exception|traceback)/.test(line) || !line.trim().startsWith("{")) continue;
      let value;
      try {
        value = JSON.parse(line);
      } catch {
        continue;
      }
      const { error_type: type, error_message: message } = value;
      if (typeof type === "string" && type && typeof message === "string") {
        text = `${type}: ${message}`;
        continue;
      }
      for (const name of ["error_traceback", "traceback", "exception", "error"]) {
        if (typeof value[name] !== "string") continue;
        const found = logErrors.find(value[name].split("\n"), isEntry).text;
        if (found) text = found;
      }
    }
    return text;
  }

  return { read, signalsOf };
})();
