// Core: elements, data, numbers as text, routes, and the theme. Views are registered in `views`.

const views = {};

// The views of the header and of the first page: the name in the address, in the header, and what is there.
const NAVIGATION = [
  ["symptoms", "Symptoms", "What was seen, which causes show it, and which measurement distinguishes them."],
  ["failures", "Failures", "All scenarios: the run over its healthy twin, its cause, and who named it right."],
  ["answers", "The tool", "What failbench diagnose answers to three logs, one answer wrong."],
  ["methods", "Methods", "How often each method is right, where it errs, and what it reads."],
  ["reported", "Reported", "Each number of the original beside ours, where both are of one quantity."],
  ["audit", "Audit", "The original against itself: its claims tested by its own figures."],
];

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

// An element of HTML. Text is always text: nothing of the data is ever parsed as markup.
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// An element of SVG.
function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

const parsed = new Map();

// A section of data, parsed when it is first asked for; null if the page has none of that name.
function data(name) {
  if (!parsed.has(name)) {
    const block = document.getElementById(`data-${name}`);
    parsed.set(name, block ? JSON.parse(block.textContent) : null);
  }
  return parsed.get(name);
}

function decimals(x, count) {
  const text = x.toFixed(count);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace("-", "−");
}

// A fraction in percent, with one decimal: "60.7 %".
function percent(x) {
  return x === null || x === undefined ? "–" : `${decimals(100 * x, 1)} %`;
}

// An estimate in percent with its interval: "60.7 [51.8, 68.6] %".
function interval(estimate) {
  if (!estimate) return "–";
  const [value, low, high] = [estimate.value, estimate.ci_low, estimate.ci_high].map((x) =>
    x === null || x === undefined ? null : decimals(100 * x, 1),
  );
  return low === null ? `${value} %` : `${value} [${low}, ${high}] %`;
}

// An estimate of the data: its value, and its interval if it has one.
function estimate([value, low = null, high = null]) {
  return { value, ci_low: low, ci_high: high };
}

// Text in which code stands between backticks.
function marked(text) {
  return text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

function plural(count, singular, many = `${singular}s`) {
  return `${count} ${count === 1 ? singular : many}`;
}

// What a reader of the screen hears of a change that moves no focus.
function say(text) {
  document.getElementById("said").textContent = text;
}

// A route is a hash: #/NAME/REST?KEY=VALUE.
function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  return { name: name || "landing", rest, query: new URLSearchParams(query) };
}

function hashOf(name, rest = [], query = new URLSearchParams()) {
  const path = [name === "landing" ? "" : name, ...rest.map(encodeURIComponent)].join("/");
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

// Writes the state of a view into the address without opening the view again.
function replaceQuery(query) {
  const route = routeOf(location.hash);
  history.replaceState(null, "", hashOf(route.name, route.rest, query));
}

function missingView(container, route) {
  container.append(
    h("h1", {}, "There is no such view"),
    h("p", {}, `Nothing is called “${route.name}” here. `, h("a", { href: "#/" }, "Go to the start"), "."),
  );
}

function show(route, moveFocus) {
  const main = document.getElementById("main");
  main.replaceChildren();
  const view = views[route.name];
  if (view) view.render(main, route);
  else missingView(main, route);
  const heading = main.querySelector("h1");
  document.title = heading && route.name !== "landing" ? `${heading.textContent} · failbench` : "failbench";
  document.getElementById("scale").hidden = route.name === "landing"; // which says it itself
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.view === route.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (moveFocus) {
    window.scrollTo(0, 0);
    if (heading) {
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    }
  }
}

// The theme is the system's until the button is pressed; it is kept where the browser lets it be.
const THEME = "failbench-theme";

function systemTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function keptTheme() {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null;
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  document.getElementById("theme").textContent = `Use ${other} colours`;
}

function toggleTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  setTheme(theme);
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // a browser that keeps nothing for files from disk shows the choice until the page is closed
  }
}

function start() {
  setTheme(keptTheme() ?? systemTheme());
  document.getElementById("theme").addEventListener("click", toggleTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (!keptTheme()) setTheme(systemTheme());
  });
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the hash is the route
    document.getElementById("main").focus();
  });
  document.getElementById("views").append(
    ...NAVIGATION.map(([name, label]) => h("li", {}, h("a", { href: hashOf(name), "data-view": name }, label))),
  );
  addEventListener("hashchange", () => show(routeOf(location.hash), true));
  show(routeOf(location.hash), false);
}
