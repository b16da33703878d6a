// Features of a pasted log, by the definitions of failbench.features.catalogue.
const logFeatures = (() => {
  "use strict";

  function bounded(value, ceiling) {
    return Number.isFinite(value) ? Math.min(value, ceiling) : ceiling;
  }

  function rounded(value, digits) {
    return value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(digits));
  }

  function seen(entries, name) {
    return entries.filter((entry) => entry[name] !== undefined).map((entry) => entry[name]);
  }

  function largest(values) {
    return values.reduce((most, value) => (most === null || value > most ? value : most), null);
  }

  function mean(values) {
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  }

  // Least-squares slope per step; null with fewer than two values
  function slope(entries, name) {
    const both = entries.filter((entry) => entry[name] !== undefined && entry.step !== undefined);
    const steps = both.map((entry) => entry.step);
    const values = both.map((entry) => entry[name]);
    const [middle, level] = [mean(steps), mean(values)];
    let product = 0;
    let square = 0;
    for (let i = 0; i < both.length; i += 1) {
      product += (steps[i] - middle) * (values[i] - level);
      square += (steps[i] - middle) ** 2;
    }
    return square > 0 ? product / square : null;
  }

  function recentShare(entries, part, count) {
    const recent = entries.slice(-count);
    const sum = (name) => seen(recent, name).reduce((total, value) => total + value, 0);
    const tokens = sum("tokens");
    return tokens > 0 ? sum(part) / tokens : null;
  }

  function last(values) {
    return values.length ? values[values.length - 1] : null;
  }

  // {name: value or null} of the features that the rules read
  function compute(log, capacity, rules) {
    const { ceiling, recent_steps: recent, memory_warning: warning, significant_digits: digits } =
      rules.constants;
    const entries = log.entries.map((entry) => {
      const copy = { ...entry };
      for (const name of ["loss", "gradient_norm", "validation_loss", "perplexity"]) {
        if (copy[name] !== undefined) copy[name] = bounded(copy[name], ceiling);
      }
      if (copy.memory_share !== undefined) copy.level = copy.memory_share;
      else if (copy.memory !== undefined && capacity) copy.level = copy.memory / capacity;
      return copy;
    });
    const heldOut = last(seen(entries, "validation_loss")) ?? last(seen(entries, "loss"));
    const share = (part, direct) =>
      seen(entries, part).length ? recentShare(entries, part, recent) : last(seen(entries, direct));
    const level = largest(seen(entries, "level"));
    const values = {
      max_gradient_norm: largest(seen(entries, "gradient_norm")),
      max_loss: largest(seen(entries, "loss")),
      loss_trend: slope(entries, "loss"),
      perplexity:
        heldOut === null
          ? last(seen(entries, "perplexity"))
          : Math.exp(Math.min(heldOut, Math.log(ceiling))),
      oov_rate: share("unknown_tokens", "oov_rate"),
      vocabulary_coverage: share("covered_tokens", "vocabulary_coverage"),
      memory_warning: level === null ? null : Number(level > warning),
      memory_growth_rate: slope(entries, "level"),
    };
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, rounded(value, digits)]),
    );
  }

  return { compute };
})();
