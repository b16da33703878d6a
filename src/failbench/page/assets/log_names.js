// What a name in a log stands for: the same answers as failbench.readers.names, from its table.
const logNames = (() => {
  "use strict";

  const LONGEST_NAME = 80;
  const UNITS = new Map([
    ["b", 1], ["byte", 1], ["bytes", 1],
    ["kb", 1e3], ["mb", 1e6], ["gb", 1e9], ["tb", 1e12],
    ["kib", 2 ** 10], ["mib", 2 ** 20], ["gib", 2 ** 30], ["tib", 2 ** 40],
    ["k", 2 ** 10], ["m", 2 ** 20], ["g", 2 ** 30],
  ]);

  // {of, split} of a name, or null where it is none that is read
  function meaning(name, rules) {
    if (name.length > LONGEST_NAME) return null;
    const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const role = (word) => (Object.hasOwn(rules.words, word) ? rules.words[word] : "");
    const isSplit = (word) => role(word) === "train" || role(word) === "validation";
    const split = words.find(isSplit);
    const kept = words.filter((word) => !isSplit(word) && role(word) !== "filler");
    const known = (some) => {
      const key = some.join(" ");
      return Object.hasOwn(rules.names, key) ? rules.names[key] : null;
    };
    let found = known(kept);
    const last = kept[kept.length - 1];
    if (!found && kept.length > 1 && (role(last) === "when" || last === "step" || last === "epoch")) {
      found = known(kept.slice(0, -1));
    }
    if (!found && kept.length > 1 && kept[0] === "lr") found = ["learning_rate", ""];
    if (!found) return null;
    return { of: found[0], split: found[1] || (split ? role(split) : "") };
  }

  // The longest end of a phrase that is a name, and the unit that it ends with if any
  function meaningAtEnd(phrase, rules) {
    let rest = phrase.trim();
    while (rest) {
      const found = meaning(rest, rules);
      if (found) return { ...found, unit: unitInName(rest) };
      const cut = /^(.*)[ _/-]([A-Za-z]+)$/.exec(rest);
      if (cut && UNITS.has(cut[2].toLowerCase())) {
        const without = meaning(cut[1], rules);
        if (without) return { ...without, unit: UNITS.get(cut[2].toLowerCase()) };
      }
      const space = rest.indexOf(" ");
      if (space < 0) return null;
      rest = rest.slice(space + 1);
    }
    return null;
  }

  function unitInName(name) {
    const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    return UNITS.get(words[words.length - 1]) ?? null;
  }

  function unitFactor(text) {
    return UNITS.get(text.toLowerCase()) ?? null;
  }

  return { meaning, meaningAtEnd, unitFactor };
})();
