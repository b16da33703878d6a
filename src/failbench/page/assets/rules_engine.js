// The simple rules on a pasted log: the first that holds decides.
const rulesEngine = (() => {
  "use strict";

  const patterns = new Map();

  function matched(pattern, text) {
    if (!patterns.has(pattern)) patterns.set(pattern, new RegExp(pattern, "u"));
    const found = patterns.get(pattern).exec(text);
    return found ? found[0] : null;
  }

  // {holds: true | false | null, ...}; null where the paste does not show what the condition reads
  function evaluate(condition, log, features) {
    if (condition.kind === "text") {
      const words = log.error ? matched(condition.pattern, log.error) : null;
      return { condition, holds: words !== null, words };
    }
    const value = features[condition.feature];
    if (value === null) return { condition, holds: null, value };
    const { side, threshold } = condition;
    return { condition, holds: side === "above" ? value > threshold : value < threshold, value };
  }

  // {category, rule, isFallback, rules: [{rule, state, conditions}]}
  function diagnose(log, capacity, rules, { useHealthy = true } = {}) {
    const features = logFeatures.compute(log, capacity, rules);
    const evaluated = [];
    let decided = null;
    for (const rule of rules.rules) {
      if (decided) {
        evaluated.push({ rule, state: "not reached", conditions: [] });
        continue;
      }
      const setAside = !useHealthy && rule.conditions.some((condition) => condition.of_healthy);
      const conditions = rule.conditions.map((condition) => evaluate(condition, log, features));
      let state = "no match";
      if (setAside) state = "set aside";
      else if (conditions.some(({ holds }) => holds === false)) state = "no match";
      else if (conditions.some(({ holds }) => holds === null)) state = "not evaluated";
      else if (conditions.every(({ holds }) => holds)) state = "matched";
      evaluated.push({ rule, state, conditions });
      if (state === "matched") decided = { rule, conditions };
    }
    return {
      features,
      rules: evaluated,
      rule: decided ? decided.rule : null,
      conditions: decided ? decided.conditions : [],
      category: decided ? decided.rule.category : rules.fallback,
      isFallback: !decided,
    };
  }

  return { diagnose, matched };
})();
