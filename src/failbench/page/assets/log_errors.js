// The error text of a pasted log: what an exception says, or the line with which a process died.
const logErrors = (() => {
  "use strict";

  const HEADER = "Traceback (most recent call last):";
  const RANK = /^\[[^\]\s]*rank\s?\d+\]:\s?/i;
  const EXCEPTION = /^(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?::\s|:?$)/;
  const NAMED = /(?:^|[\s:|\]])((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)(?::\s.*|\s*$))/;
  const DEATH = /^(?:.*\bline \d+:\s+\d+\s+)?(?:Killed\b|Segmentation fault\b|Aborted\b|terminate called\b|\s*what\(\):)|\b(?:terminated by signal|killed by signal|exited unexpectedly)\b/;

  function withoutRank(line) {
    return line.replace(RANK, "");
  }

  // {text, inside}: the last error, and the positions of lines that belong to errors
  function find(lines, isEntry) {
    const inside = new Set();
    let text = "";
    let at = 0;
    while (at < lines.length) {
      const line = withoutRank(lines[at]);
      if (line.trim().endsWith(HEADER)) {
        const block = traceback(lines, at, isEntry);
        for (let i = at; i < block.end; i += 1) inside.add(i);
        if (block.text) text = block.text;
        at = block.end;
        continue;
      }
      const named = NAMED.exec(line);
      if (named && !isEntry(line)) {
        const end = messageEnd(lines, at + 1, isEntry);
        text = [named[1], ...lines.slice(at + 1, end).map(withoutRank)].join("\n");
        for (let i = at; i < end; i += 1) inside.add(i);
        at = end;
        continue;
      }
      if (DEATH.test(line) && !isEntry(line)) {
        text = line.trim();
        inside.add(at);
      }
      at += 1;
    }
    return { text, inside };
  }

  function traceback(lines, start, isEntry) {
    let at = start + 1;
    while (at < lines.length) {
      const line = withoutRank(lines[at]);
      if (/^\s+\S/.test(line)) {
        at += 1;
      } else if (EXCEPTION.test(line) && !isEntry(line)) {
        const end = messageEnd(lines, at + 1, isEntry);
        const text = [line, ...lines.slice(at + 1, end).map(withoutRank)].join("\n");
        return { text, end };
      } else {
        break;
      }
    }
    return { text: "", end: at };
  }

  // A message goes on until an empty line, another error, or a line of measurements
  function messageEnd(lines, start, isEntry) {
    let at = start;
    while (at < lines.length) {
      const line = withoutRank(lines[at]);
      if (!line.trim() || line.trim().endsWith(HEADER) || NAMED.test(line)) break;
      if (DEATH.test(line) || (!/^\s/.test(line) && isEntry(line))) break;
      at += 1;
    }
    return at;
  }

  return { find };
})();
